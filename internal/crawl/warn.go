package crawl

// Warnings lists what is valid in a definition, and most likely not meant.
func (d Definition) Warnings() (list Faults) {
	if p := d.Politeness; p.MinDelay <= 0 && (p.MaxDelay <= 0 || p.Factor <= 0) {
		list = append(list, Fault{"politeness", "leaves no pause between two requests to a host (min_delay is 0, and so is max_delay or factor): its operator may take that for an attack; do so on servers of your own alone, else leave these fields out"})
	}
	return list
}
