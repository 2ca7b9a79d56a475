package worker

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"

	"github.com/muninn-archive/muninn/activities/names"
)

// RegisterAttributes creates the search attributes that the namespace lacks. Several workers may do so at a time.
func RegisterAttributes(ctx context.Context, c client.Client, namespace string) error {
	missing, err := missingAttributes(ctx, c, namespace)
	if err != nil || len(missing) == 0 {
		return err
	}
	_, err = c.OperatorService().AddSearchAttributes(ctx, &operatorservice.AddSearchAttributesRequest{Namespace: namespace, SearchAttributes: missing})
	var exists *serviceerror.AlreadyExists
	if err != nil && !errors.As(err, &exists) {
		return fmt.Errorf("register search attributes: %w", err)
	}
	return nil
}

// attributesTime is how long a service may take until it knows search attributes that were registered: each of its processes reads the
// namespace again every few seconds.
const attributesTime = 30 * time.Second

// WithAttributes registers the search attributes, and then starts what uses them, again as long as the service does not know them yet.
func WithAttributes(ctx context.Context, c client.Client, namespace string, start func() error) error {
	if err := RegisterAttributes(ctx, c, namespace); err != nil {
		return err
	}
	return retryUnknown(ctx, attributesTime, attributesTime/100, start)
}

// retryUnknown calls start again and again, for some time, as long as its error is that a search attribute is not known.
func retryUnknown(ctx context.Context, limit, pause time.Duration, start func() error) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for {
		err := start()
		var invalid *serviceerror.InvalidArgument
		if err == nil || ctx.Err() != nil || !errors.As(err, &invalid) || !strings.Contains(invalid.Message, "search attribute") {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(pause):
		}
	}
}

// NoNamespace is the error for a namespace that the Temporal service does not have.
func NoNamespace(namespace string) error {
	return fmt.Errorf("the Temporal service has no namespace %q: create it with `temporal operator namespace create --namespace %s`", namespace, namespace)
}

// missingAttributes lists the search attributes that a namespace lacks.
func missingAttributes(ctx context.Context, c client.Client, namespace string) (map[string]enums.IndexedValueType, error) {
	have, err := c.OperatorService().ListSearchAttributes(ctx, &operatorservice.ListSearchAttributesRequest{Namespace: namespace})
	var none *serviceerror.NamespaceNotFound
	if errors.As(err, &none) {
		return nil, NoNamespace(namespace)
	}
	if err != nil {
		return nil, fmt.Errorf("list search attributes: %w", err)
	}
	missing := map[string]enums.IndexedValueType{}
	for name, kind := range names.SearchAttributes {
		if _, known := have.GetCustomAttributes()[name]; known {
			continue
		}
		if missing[name], err = enums.IndexedValueTypeFromString(kind); err != nil {
			return nil, err
		}
	}
	return missing, nil
}
