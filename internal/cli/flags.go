package cli

import (
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// PlainFaults makes flags say what a value must be, in place of what Go's parsers say.
func PlainFaults(fs *pflag.FlagSet) {
	fs.VisitAll(func(f *pflag.Flag) {
		if _, wrapped := f.Value.(plain); wrapped {
			return
		}
		switch f.Value.Type() {
		case "int", "int64", "uint", "uint64", "float64", "duration", "bool":
			f.Value = plain{f.Value}
		}
	})
}

// plainFaults does so for a command and all below it.
func plainFaults(cmd *cobra.Command) {
	PlainFaults(cmd.Flags())
	PlainFaults(cmd.PersistentFlags())
	for _, c := range cmd.Commands() {
		plainFaults(c)
	}
}

type plain struct{ pflag.Value }

// Set reads the value; what cannot be read leaves it as it was.
func (p plain) Set(text string) error {
	before := p.String()
	err := p.Value.Set(text)
	if err == nil {
		return nil
	}
	_ = p.Value.Set(before)
	switch p.Type() {
	case "duration":
		return fmt.Errorf("%q is not a duration: write it as 30s, 5m or 24h", text)
	case "bool":
		return fmt.Errorf("%q must be true or false", text)
	case "float64":
		return fmt.Errorf("%q is not a number, such as 0.5", text)
	case "uint", "uint64":
		return fmt.Errorf("%q is not a whole number from 0 on", text)
	}
	return fmt.Errorf("%q is not a whole number, such as 256", text)
}
