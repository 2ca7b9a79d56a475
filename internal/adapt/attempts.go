package adapt

// storeRule takes a rule that was made on this page.
func (a *adaptation) storeRule(l Rule, method string) {
	a.updateSite(func(s *Site) bool {
		s.Add(SiteRule{Application: a.app, Level: a.Level.Name, Rule: l, Method: method, Instead: a.shippedRule(l.Type)}, a.page.Doc.URL, a.Now())
		return true
	})
}

func (a *adaptation) updateSite(fn func(*Site) bool) {
	if err := a.Store.Update(a.host, fn); err != nil {
		a.err = err
	}
}

// mayTry reports whether learning is tried on this host: it has not failed MaxAttempts times in a row.
func (a *adaptation) mayTry() (may bool) {
	a.updateSite(func(s *Site) bool {
		may = s.Attempts < MaxAttempts
		return false
	})
	return may
}

func (a *adaptation) countAttempt(success bool) {
	a.updateSite(func(s *Site) bool {
		if success {
			s.Attempts = 0
		} else {
			s.Attempts++
		}
		return s.Attempts%10 == 0
	})
}
