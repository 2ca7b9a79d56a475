package urls

// Same reports whether two texts are the same URL in canonical form, without their fragments. Texts that are no URLs are the same if they are equal.
func Same(a, b string) bool {
	if a == b {
		return true
	}
	one, err := Parse(a)
	if err != nil {
		return false
	}
	other, err := Parse(b)
	return err == nil && one.String() == other.String()
}
