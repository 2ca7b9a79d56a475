package query

// Bounds of a query: what it costs to answer grows with each.
const (
	// MaxBytes is the length of a query.
	MaxBytes = 8 << 10
	// MaxTerms bounds its words and fields.
	MaxTerms = 128
	// MaxDepth bounds parentheses and minus signs, one in the other.
	MaxDepth = 16
)
