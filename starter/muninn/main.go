// muninn is the command line of Muninn.
package main

import (
	"os"

	"github.com/muninn-archive/muninn/starter"
)

func main() { os.Exit(starter.Main(os.Args[1:])) }
