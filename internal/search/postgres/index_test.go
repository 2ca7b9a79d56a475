package postgres

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/internal/pgtest"
	"github.com/muninn-archive/muninn/internal/search"
	"github.com/muninn-archive/muninn/internal/search/searchtest"
)

// TestSuite: what an index must do.
func TestSuite(t *testing.T) {
	connection := pgtest.Start(t).Database(t)
	places := 0
	searchtest.Run(t, func(t *testing.T) searchtest.Place {
		places++
		schema := fmt.Sprintf("place \"%d\"", places)
		return searchtest.Place{Open: func(t *testing.T) search.Index {
			x, err := Open(context.Background(), connection, schema)
			if err != nil {
				t.Fatal(err)
			}
			return x
		}}
	})
}

func TestOpenFaults(t *testing.T) {
	for _, test := range []struct{ connection, schema, want string }{
		{"nonsense://", "s", "the connection string is wrong"},
		{"postgres://nobody@127.0.0.1:1/none", "", "the name of the schema is empty"},
		{"postgres://nobody@127.0.0.1:1/none", "s", "open the search index"},
	} {
		if _, err := Open(context.Background(), test.connection, test.schema); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q: %v, want %s", test.connection, err, test.want)
		}
	}
}

// TestLongKnown: pages that are known to be there are found by words of their titles and by a sentence.
func TestLongKnown(t *testing.T) {
	x, err := Open(context.Background(), pgtest.Start(t).Database(t), "known")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = x.Close() }()
	searchtest.CheckKnown(t, x, 150)
}
