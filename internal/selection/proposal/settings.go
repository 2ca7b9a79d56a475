package proposal

// Settings of proposals.
type Settings struct {
	// How much the families of features weigh beside each other; 0: a family is left out.
	Text, Head, Title, Anchors, Path, Shape, Host, Helper float64
	LeastPages                                            float32 // of the candidates that must have a feature for it to count
	Topics                                                int     // how many topics there are
	Topic                                                 float64 // how much all of them weigh beside the features
	Cost                                                  float64 // of an error in training, beside the length of the weights
	Balance                                               float64 // how far the rarer verdict counts more: 0 not at all, 1 so that both count the same
	Batch                                                 int     // pages that are asked about before the model learns again
	First                                                 int     // pages that are asked about for variety alone, before the model is asked what it is unsure of
	Apart                                                 float64 // the cosine from which two pages are too like each other to be asked about together
	PerHost                                               float64 // share of a batch that one host may have
}

// DefaultSettings were chosen by measurement, on the collection of WebKB that internal/lab/selecting calls Chosen: see
// docs/architecture/selection.md.
func DefaultSettings() Settings {
	return Settings{
		Text: 1, Head: 0.7, Title: 1, Anchors: 1, Path: 1, Shape: 0.7, Host: 0.3, Helper: 0.7,
		LeastPages: 2, Topics: 100, Topic: 1, Cost: 30, Balance: 1, Batch: 10, First: 20, Apart: 0.6, PerHost: 0.2,
	}
}

func (s *Settings) weight(of family) float64 {
	switch of {
	case familyText:
		return s.Text
	case familyHead:
		return s.Head
	case familyTitle:
		return s.Title
	case familyAnchors:
		return s.Anchors
	case familyPath:
		return s.Path
	case familyShape:
		return s.Shape
	case familyHost:
		return s.Host
	case familyHelper:
		return s.Helper
	}
	return 0
}
