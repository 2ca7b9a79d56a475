package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// Connections that were closed are known to PostgreSQL for a moment more: so long the end of others is waited for, and so often asked about.
const (
	othersWait = 5 * time.Second
	othersPoll = 100 * time.Millisecond
)

// DropSchemas deletes schemas of a database with all that is in them, in one transaction; a schema that is not there is no fault. dropped is
// false, and nothing is deleted, if others are connected to the database.
func DropSchemas(ctx context.Context, where string, schemas ...string) (dropped bool, err error) {
	conn, err := pgx.Connect(ctx, where)
	if err != nil {
		return false, err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	if others, err := othersOn(ctx, conn); others || err != nil {
		return false, err
	}
	err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		for _, s := range schemas {
			if _, err := tx.Exec(ctx, `DROP SCHEMA IF EXISTS `+pgx.Identifier{s}.Sanitize()+` CASCADE`); err != nil {
				return fmt.Errorf("schema %s: %w", s, err)
			}
		}
		return nil
	})
	return err == nil, err
}

// othersOn reports whether others stay connected to the database of a connection.
func othersOn(ctx context.Context, conn *pgx.Conn) (bool, error) {
	for until := time.Now().Add(othersWait); ; {
		var others int
		err := conn.QueryRow(ctx, `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()`).Scan(&others)
		if err != nil || others == 0 || time.Now().After(until) {
			return others > 0, err
		}
		select {
		case <-ctx.Done():
			return true, ctx.Err()
		case <-time.After(othersPoll):
		}
	}
}
