package urls

import "fmt"

// CheckPLD refuses a name that is not a pay-level domain as URL.PLD returns it; the error continues the name as a sentence.
func CheckPLD(name string) error {
	u, err := siteOf(name)
	if err == nil && u.PLD() != name {
		err = fmt.Errorf("is a host, its pay-level domain is %s", u.PLD())
	}
	return err
}

// CheckHost refuses a name that is not a host as URL.Host returns it; the error continues the name as a sentence.
func CheckHost(name string) error {
	_, err := siteOf(name)
	return err
}

func siteOf(name string) (URL, error) {
	u, err := Parse("http://" + name + "/")
	if err != nil {
		return u, fmt.Errorf("is not the name of a host: %w", err)
	}
	if u.Host() != name {
		return u, fmt.Errorf("is not a bare host name in its usual form, such as %s", u.Host())
	}
	return u, nil
}
