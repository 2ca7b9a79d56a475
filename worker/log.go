package worker

import (
	"io"
	"log/slog"
)

// Values of the setting log-format.
const (
	logText = "text"
	logJSON = "json"
)

// Logger writes the worker's log in the format that the configuration asks for.
func (c *Config) Logger(out io.Writer) *slog.Logger {
	options := &slog.HandlerOptions{Level: c.LogLevel}
	if c.LogFormat == logJSON {
		return slog.New(slog.NewJSONHandler(out, options))
	}
	return slog.New(slog.NewTextHandler(out, options))
}
