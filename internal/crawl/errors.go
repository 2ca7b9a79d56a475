package crawl

// InputError says that what was given, a definition or a URL, can never work: nobody tries again.
type InputError struct{ Message string }

func (e *InputError) Error() string { return e.Message }
