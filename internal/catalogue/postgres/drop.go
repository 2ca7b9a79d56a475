package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// PostgreSQL knows connections that were closed for a moment more: so long their end is waited for, and so often it is looked for.
const (
	othersWait = 5 * time.Second
	othersPoll = 100 * time.Millisecond
)

// DropSchemas deletes schemas of a database with all that is in them, in one transaction; a schema that is not there is no fault. dropped is
// false, and nothing is deleted, if a process has a catalogue of the database open.
func DropSchemas(ctx context.Context, where string, schemas ...string) (dropped bool, err error) {
	conn, err := pgx.Connect(ctx, where)
	if err != nil {
		return false, err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	for until := time.Now().Add(othersWait); ; {
		if dropped, err = drop(ctx, conn, schemas); dropped || err != nil || time.Now().After(until) {
			return dropped, err
		}
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case <-time.After(othersPoll):
		}
	}
}

// drop holds the lock until the schemas are gone: a process that opens a catalogue meanwhile waits, and makes a new one.
func drop(ctx context.Context, conn *pgx.Conn, schemas []string) (alone bool, err error) {
	err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if err := tx.QueryRow(ctx, `SELECT pg_try_advisory_xact_lock($1)`, int64(openNumber)).Scan(&alone); err != nil || !alone {
			return err
		}
		for _, s := range schemas {
			if _, err := tx.Exec(ctx, `DROP SCHEMA IF EXISTS `+pgx.Identifier{s}.Sanitize()+` CASCADE`); err != nil {
				return fmt.Errorf("schema %s: %w", s, err)
			}
		}
		return nil
	})
	return alone && err == nil, err
}
