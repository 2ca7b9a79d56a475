package worker

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"github.com/spf13/viper"

	"github.com/muninn-archive/muninn/internal/cli"
	"github.com/muninn-archive/muninn/internal/crawl"
)

// Flags binds the settings to flags, which it adds to those of a command.
func (c *Config) Flags(into *pflag.FlagSet) {
	fs := pflag.NewFlagSet("settings", pflag.ContinueOnError)
	c.flags = fs
	defer func() {
		cli.PlainFaults(fs)
		into.AddFlagSet(fs)
	}()
	fs.StringVar(&c.Temporal.Address, "temporal", c.Temporal.Address, "Temporal frontend, HOST:PORT")
	fs.StringVar(&c.Temporal.Namespace, "namespace", c.Temporal.Namespace, "Temporal namespace")
	fs.StringVar(&c.Temporal.Queue, "task-queue", c.Temporal.Queue, "shared task queue")
	fs.BoolVar(&c.Temporal.TLS, "tls", c.Temporal.TLS, "reach Temporal over TLS")
	fs.StringVar(&c.Temporal.CA, "tls-ca", "", "file of the CA certificate (PEM)")
	fs.StringVar(&c.Temporal.Cert, "tls-cert", "", "file of the client certificate (PEM)")
	fs.StringVar(&c.Temporal.Key, "tls-key", "", "file of the client key (PEM)")
	fs.StringVar(&c.Temporal.ServerName, "tls-server-name", "", "name that the server's certificate must have")
	fs.StringVar(&c.Name, "name", c.Name, "name of this worker; its queue and its frontier are known by it")
	fs.StringVar(&c.Data, "data", c.Data, "folder of frontier and spool")
	fs.StringVar(&c.Archive, "archive", c.Archive, "where WARC files go: s3://bucket/prefix or a directory (default DATA/archive)")
	fs.StringSliceVar(&c.Archives, "archive-allow", c.Archives, "further place that definitions may name as archive: s3://bucket/prefix or a directory (repeatable); what is below archive, or in its bucket, is allowed anyway")
	fs.StringVar(&c.Views, "views", c.Views, "PostgreSQL database of the views of the reading room, postgres://USER@HOST/DATABASE, which derivations are added to; a password is read from MUNINN_VIEWS, PGPASSWORD or ~/.pgpass (default: none)")
	fs.StringSliceVar(&c.Seeds, "seed-dir", c.Seeds, "folder of seed files that definitions may name (repeatable; default: none)")
	fs.StringSliceVar(&c.Thesauri, "thesaurus-dir", c.Thesauri, "folder of thesauri that definitions may name (repeatable)")
	fs.StringVar(&c.S3.Endpoint, "s3-endpoint", "", "S3 service, URL or HOST:PORT; HTTPS unless it begins with http://")
	fs.StringVar(&c.S3.Region, "s3-region", "us-east-1", "S3 region")
	fs.StringSliceVar(&c.Denied, "deny-network", nil, "network that is never crawled, CIDR (repeatable)")
	fs.StringSliceVar(&c.Networks, "allow-network", nil, "private network that may be crawled, CIDR (repeatable)")
	fs.StringToStringVar(&c.Resolve, "resolve", nil, "address of a host, HOST=IP, in place of DNS (repeatable)")
	fs.StringVar(&c.DNS, "dns", "", "DNS server, ADDR:PORT (default: the system's)")
	fs.StringVar(&c.Groups, "host-groups", "", "file of host groups: which hosts and networks count as one server, and where more than one lane may ask an address at a time; the same on all workers")
	fs.StringVar(&c.Knowledge, "kb", "", "folder of the knowledge base (default: the one built in)")
	fs.StringVar(&c.Listen, "listen", c.Listen, "address of health and metrics; empty for none")
	fs.StringVar(&c.LogFormat, "log-format", c.LogFormat, "text or json, one object a line")
	fs.TextVar(&c.LogLevel, "log-level", c.LogLevel, "lowest level that is logged: debug, info, warn or error")
	fs.StringVar(&c.Profiles, "profiles", c.Profiles, "serve profiles of the process at the address of health and metrics: off, loopback (if only this machine reaches it) or on")
	fs.BoolVar(&c.IgnoreRobots, "ignore-robots", false, "let crawls ignore robots.txt whose definitions say robots.policy: ignore, and by what right")
	fs.BoolVar(&c.VerifyTLS, "verify-tls", false, "refuse sites whose certificate is not valid")
	fs.IntVar(&c.Lanes, "lanes", c.Lanes, "most hosts that a crawl fetches from at a time")
	fs.IntVar(&c.Round, "round", c.Round, "most claims a round")
	fs.DurationVar(&c.Linger, "linger", c.Linger, "how long a round waits for more claims; four times as long while the pages of at least one batch are fetched and not committed; eight times as long if it has only releases that no claim of the worker waits for")
	fs.DurationVar(&c.BatchTime, "batch-time", c.BatchTime, "a batch stops fetching after this time and returns its other URLs to the queues")
	fs.IntVar(&c.BundlePLDs, "bundle-plds", c.BundlePLDs, "most queues in one batch")
	fs.IntVar(&c.BundleURLs, "bundle-urls", c.BundleURLs, "most URLs in one batch; a single claim may have more")
	fs.IntVar(&c.Attempts, "step-attempts", c.Attempts, "faults of a batch in FETCH, or in the steps after it together, with growing pauses, before it fails; those of the archive, kills and outages do not count")
	fs.DurationVar(&c.GiveBack, "give-back", c.GiveBack, "how long the queues of a failed batch rest")
	fs.IntVar(&c.Deliveries, "deliveries", c.Deliveries, "segments of other workers whose links a worker takes in at a time, in crawls that are spread")
	fs.IntVar(&c.LearnEvery, "learn-every", c.LearnEvery, "pages of this worker, at most, after which it exchanges with the others what the order of a spread crawl learns; a young crawl does it more often; 0: never")
	fs.DurationVar(&c.SpoolKeep, "spool-keep", c.SpoolKeep, "how long working files of failed batches are kept")
	fs.DurationVar(&c.StartWait, "start-wait", c.StartWait, "how long a starting worker waits for a Temporal service and an archive that do not answer, before it ends with exit code 1; 0: not at all")
	fs.DurationVar(&c.Drain, "drain", c.Drain, "how long a stopping worker waits for its activities")
	fs.DurationVar(&c.HandOver, "hand-over", c.HandOver, "how long a stopping worker hands its partitions of spread crawls over to other workers, before it drains; after half of it their batches are given back")
	fs.IntVar(&c.Shards, "politeness-shards", c.Shards, "number of politeness workflows; the same on all workers: a worker with another number does not start")
	fs.DurationVar(&c.Checkpoint, "checkpoint-every", c.Checkpoint, "how often the frontier is kept in the archive, in case the disk is lost; 0: never")
	c.limitFlags(fs)
}

func (c *Config) limitFlags(fs *pflag.FlagSet) {
	size := func(p *crawl.Bytes, name, usage string) { fs.Var(&bytesFlag{p}, name, usage) }
	span := func(p *crawl.Duration, name, usage string) {
		fs.DurationVar((*time.Duration)(p), name, p.D(), usage)
	}
	size(&c.HandedBytes, "handed-bytes", "most bytes of pages in memory between the steps of batches; pages beyond it are parsed again")
	size(&c.SpoolBytes, "spool-bytes", "most bytes of working files of failed batches that are kept; the oldest are deleted first")
	size(&c.DiskFloor, "disk-floor", "free space of the data folder's disk, and of a folder archive's, below which nothing is claimed, 256 MiB at least; 0 does not look")
	size(&c.Fetch.HeaderBytes, "header-bytes", "longest response header")
	size(&c.Fetch.BodyBytes, "body-bytes", "longest response body; the rest is cut off (WARC-Truncated: length)")
	size(&c.Fetch.MemoryBytes, "memory-bytes", "bytes of a response held in memory; the rest goes to a file")
	span(&c.Fetch.Connect, "connect-timeout", "longest time to open a connection, and again for TLS")
	span(&c.Fetch.FirstByte, "first-byte", "longest time from a request to the first byte of its response")
	span(&c.Fetch.Idle, "idle-timeout", "longest time between two reads of a body")
	span(&c.Fetch.Total, "total-timeout", "longest time of a whole exchange; the rest is cut off (WARC-Truncated: time)")
	span(&c.Fetch.AddressHold, "address-hold", "an exchange that takes longer releases its address for others; 0: never")
	span(&c.Fetch.RetryAfter, "retry-after-max", "longest Retry-After that is obeyed")
	span(&c.Fetch.RobotsTimeout, "robots-timeout", "longest time of a whole robots.txt exchange")
	span(&c.Fetch.RobotsRetry, "robots-retry", "how long an unreachable robots.txt disallows before it is requested again, and the longest pause if it is on a busy host")
	fs.IntVar(&c.Fetch.HostFailures, "host-failures", c.Fetch.HostFailures, "batches in a row that could not reach a host before its URLs fail")
	fs.IntVar(&c.Fetch.MaxAttempts, "max-attempts", c.Fetch.MaxAttempts, "attempts at a URL before it fails for good")
	span(&c.Fetch.RetryBase, "retry-base", "back-off after the first failure; it doubles with each further failure")
	span(&c.Fetch.RetryMax, "retry-max", "longest back-off")
	span(&c.Fetch.ConnectionIdle, "connection-idle", "pause after which a connection is not used again")
	size(&c.Page.DecodedBytes, "decoded-bytes", "longest body without its encodings; the rest is not parsed")
	fs.IntVar(&c.Page.Markup, "markup-per-page", c.Page.Markup, "most elements and attributes of a page that are parsed; the rest is archived unread")
	fs.IntVar(&c.Page.Links, "links-per-page", c.Page.Links, "most links taken from a page")
	fs.IntVar(&c.Page.SitemapLinks, "links-per-sitemap", c.Page.SitemapLinks, "most links taken from a sitemap")
	size(&c.Page.TextBytes, "text-bytes", "longest text of a page; the rest is cut off")
	fs.IntVar(&c.Page.BlockBytes, "block-bytes", c.Page.BlockBytes, "longest text block, in bytes; longer ones are split")
	fs.IntVar(&c.Page.AnchorBytes, "anchor-bytes", c.Page.AnchorBytes, "longest text of an anchor, in bytes; the rest is cut off")
	fs.DurationVar(&c.PDF.Time, "pdf-time", c.PDF.Time, "longest time to read the text and links of a PDF file; what was read until then counts; 0: none is read")
	size(&c.PDF.Memory, "pdf-memory", "most memory to read a PDF file in; a larger one is archived unread")
	fs.StringVar(&c.Browser, "browser", "", "path of Chromium, for crawls that open pages (default: looked for in PATH, as chromium, chromium-browser, google-chrome or google-chrome-stable)")
	fs.BoolVar(&c.BrowserSandbox, "browser-sandbox", c.BrowserSandbox, "run Chromium in its own sandbox, which it does not have as root: there it is not started; false only where all pages are trusted")
	fs.IntVar(&c.Browsers.Processes, "browsers", c.Browsers.Processes, "most browsers at a time, each of which shows one page at a time")
	size(&c.Browsers.Memory, "browser-memory", "most memory of a browser with its processes, 256 MiB at least; one that takes more is ended, and its page archived as it came")
	fs.DurationVar(&c.Browsers.Time, "browser-time", c.Browsers.Time, "longest time that a page is open in a browser, with the pauses between its requests; 5s at least")
	fs.IntVar(&c.Browsers.Scrolls, "browser-scrolls", c.Browsers.Scrolls, "how often a page that is open is scrolled to its end, at most")
	fs.IntVar(&c.Browsers.Routes, "browser-routes", c.Browsers.Routes, "views of a page behind fragments such as #/ravens that are shown, at most")
	fs.IntVar(&c.Helper.Objects, "objects-per-page", c.Helper.Objects, "most web objects extracted from a page")
	fs.IntVar(&c.Helper.PropertyBytes, "property-bytes", c.Helper.PropertyBytes, "longest property of a web object, in bytes; the rest is cut off")
	fs.IntVar(&c.Helper.Nodes, "helper-nodes", c.Helper.Nodes, "nodes of a page that the helper's rules may look at")
	fs.IntVar(&c.Helper.Hosts, "helper-hosts", c.Helper.Hosts, "hosts whose web application is remembered")
	fs.IntVar(&c.Helper.AdaptSteps, "adapt-steps", c.Helper.AdaptSteps, "most nodes that each way of learning may visit on a page whose template has changed")
}

// bytesFlag reads sizes such as 64MiB.
type bytesFlag struct{ *crawl.Bytes }

func (b *bytesFlag) Type() string { return "size" }

func (b *bytesFlag) Set(text string) (err error) {
	*b.Bytes, err = crawl.ParseBytes(text)
	return err
}

// Load reads the settings without a flag on the command line from the environment and from a YAML file (none if file is empty), and
// the secrets, which have no flags. It follows Flags. The error lists all faults, with their lines.
func (c *Config) Load(file string) error {
	fs := c.flags
	v := viper.New()
	v.SetEnvPrefix("MUNINN")
	v.SetEnvKeyReplacer(strings.NewReplacer("-", "_"))
	v.AutomaticEnv()
	if file != "" {
		v.SetConfigFile(file)
		v.SetConfigType("yaml")
		if err := v.ReadInConfig(); err != nil {
			return fmt.Errorf("configuration file: %w", err)
		}
		if err := unknownKeys(v, fs, file); err != nil {
			return fmt.Errorf("configuration file %s: %w", file, err)
		}
	}
	var errs []error
	fs.VisitAll(func(f *pflag.Flag) {
		if f.Changed || !v.IsSet(f.Name) {
			return
		}
		where := "configuration file"
		if env := "MUNINN_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_")); os.Getenv(env) != "" {
			where = env
		}
		if err := f.Value.Set(setting(v, f.Name)); err != nil {
			errs = append(errs, fmt.Errorf("%s: setting %s: %w", where, f.Name, err))
		}
	})
	c.S3.AccessKey, c.S3.SecretKey = v.GetString(keyAccess), v.GetString(keySecret)
	c.Temporal.APIKey = v.GetString(keyAPI)
	return errors.Join(errs...)
}

// setting is the value of a setting in the form that its flag reads: it joins the lists and mappings of a file.
func setting(v *viper.Viper, name string) string {
	switch value := v.Get(name).(type) {
	case []any:
		return strings.Join(v.GetStringSlice(name), ",")
	case map[string]any:
		pairs := make([]string, 0, len(value))
		for _, key := range slices.Sorted(maps.Keys(value)) {
			pairs = append(pairs, fmt.Sprintf("%s=%v", key, value[key]))
		}
		return strings.Join(pairs, ",")
	}
	return v.GetString(name)
}

// The secrets are read from the environment or a file only, because everyone on the machine can see flags.
const (
	keyAccess = "s3-access-key"
	keySecret = "s3-secret-key"
	keyAPI    = "temporal-api-key"
)

// unknownKeys reports the keys of a file that are no settings, with their lines and the settings with similar names.
func unknownKeys(v *viper.Viper, fs *pflag.FlagSet, file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	known := []string{keyAccess, keySecret, keyAPI}
	fs.VisitAll(func(f *pflag.Flag) { known = append(known, f.Name) })
	var errs []error
	for _, key := range slices.Sorted(slices.Values(v.AllKeys())) {
		name, _, _ := strings.Cut(key, ".")
		if slices.Contains(known, name) {
			continue
		}
		line, near := "", "the settings are the flags' names"
		if n := crawl.LineOf(text, name); n > 0 {
			line = fmt.Sprintf("line %d: ", n)
		}
		if nearest := crawl.Nearest(name, known); nearest != "" {
			near = "did you mean " + nearest + "?"
		}
		errs = append(errs, fmt.Errorf("%ssetting %q is not known: %s", line, key, near))
	}
	return errors.Join(errs...)
}
