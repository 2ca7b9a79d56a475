package worker

import (
	"context"
	"errors"
	"fmt"

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
