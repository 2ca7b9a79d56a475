package worker

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/muninn-archive/muninn/activities"
	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/internal/aah"
	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/browser"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/disk"
	"github.com/muninn-archive/muninn/internal/fetch"
	"github.com/muninn-archive/muninn/internal/page"
	"github.com/muninn-archive/muninn/internal/pdf"
	"github.com/muninn-archive/muninn/internal/pipeline"
	"github.com/muninn-archive/muninn/internal/share"
	"github.com/muninn-archive/muninn/internal/thesaurus"
)

// Config is a worker's configuration. DefaultConfig gives the defaults. Flags, environment variables (MUNINN_ and the flag's name in
// capitals, '-' as '_') and a YAML file (the flags' names as keys) override them, in this order of precedence.
type Config struct {
	Temporal  Temporal
	Name      string // of the worker, of its queue and of its frontier
	Data      string // folder of frontier and spool
	Archive   string // archive of crawls whose definition names none: s3://bucket/prefix or a directory
	S3        archive.S3
	Archives  []string          // other archives that definitions may name
	Views     string            // PostgreSQL database of the views of the reading room; empty: none
	Seeds     []string          // files and folders that seeds may be read from
	Thesauri  []string          // files and folders that thesauri may be read from
	Networks  []string          // private networks that may be crawled, CIDR
	Denied    []string          // networks that are never crawled, CIDR
	Resolve   map[string]string // IP addresses by host, in place of DNS
	DNS       string            // DNS server, ADDR:PORT; empty: the system's
	Groups    string            // file of host groups; empty: none
	Knowledge string            // folder of the knowledge base; empty: the one built in
	Listen    string            // address of health and metrics; empty: none
	LogFormat string            // text or json
	LogLevel  slog.Level
	Profiles  string // off, loopback or on: whether Listen serves profiles
	// IgnoreRobots lets crawls ignore robots.txt whose definitions say by what right they do.
	IgnoreRobots bool
	VerifyTLS    bool // refuse sites with an invalid certificate

	Lanes       int           // hosts that a crawl fetches from at a time, at most
	Round       int           // claims of a round, at most
	Linger      time.Duration // wait of a round for more claims
	BatchTime   time.Duration // after which a batch stops fetching
	BundlePLDs  int           // queues of a batch, at most
	BundleURLs  int           // URLs of a batch of several claims, at most
	HandedBytes crawl.Bytes   // of pages in memory between the steps of batches
	Attempts    int           // faults of a batch before it fails
	DiskFloor   crawl.Bytes   // free space below which nothing is claimed, disk.LeastFloor or more; 0: no check
	GiveBack    time.Duration // rest of the queues of a failed batch
	Deliveries  int           // from other workers, that are taken in at a time
	LearnEvery  int           // pages, after which it exchanges what orders of spread crawls learn; 0: never
	SpoolKeep   time.Duration // age of working files of failed batches at which they are deleted
	SpoolBytes  crawl.Bytes   // of the working files of failed batches
	Drain       time.Duration // how long a stopping worker waits for its activities
	StartWait   time.Duration // how long a starting worker waits for Temporal and its archive; 0: not at all
	HandOver    time.Duration // how long a stopping worker hands over its partitions of spread crawls, before it drains
	Shards      int           // politeness workflows, the same number on all workers
	Checkpoint  time.Duration // between two checkpoints of the frontier; 0: none is made

	Fetch  fetch.Limits
	Page   page.Limits
	Helper aah.Limits
	PDF    pdf.Limits

	Browser        string         // path of Chromium; empty: it is looked for in PATH
	BrowserSandbox bool           // its own
	Browsers       browser.Limits // of pages that are opened in it

	flags *pflag.FlagSet // to which Flags has bound the settings
}

// Temporal has the settings of the connection to the Temporal service.
type Temporal struct {
	Address    string // HOST:PORT; empty: `muninn run` starts a server
	Namespace  string
	Queue      string // shared task queue
	TLS        bool
	CA         string // file of the CA certificate, PEM
	Cert       string // file of the client certificate, PEM
	Key        string // file of the client key, PEM
	ServerName string // that the server's certificate must have
	APIKey     string
}

// DefaultConfig holds the default of every setting.
func DefaultConfig() Config {
	host, err := os.Hostname()
	if err != nil {
		host = "worker"
	}
	return Config{
		Temporal: Temporal{Address: "127.0.0.1:7233", Namespace: "default", Queue: names.TaskQueue},
		Name:     host, Data: "muninn-data", Archive: "", Listen: "127.0.0.1:9464", Profiles: profilesLoopback, LogFormat: logText,
		Lanes: 320, Round: 192, Linger: 500 * time.Millisecond, BatchTime: 2 * time.Minute,
		BundlePLDs: 192, BundleURLs: 750, HandedBytes: pipeline.DefaultHandedBytes, Attempts: 8, DiskFloor: 1 << 30, Thesauri: []string{thesaurus.DefaultWordNet}, GiveBack: 5 * time.Minute, Deliveries: activities.DefaultDeliveries, LearnEvery: share.DefaultLearnEvery, SpoolKeep: 7 * 24 * time.Hour, SpoolBytes: 10 << 30,
		StartWait: time.Hour, Drain: 20 * time.Second, HandOver: 30 * time.Second, Shards: 1, Checkpoint: time.Hour,
		Fetch: fetch.DefaultLimits(), Page: page.DefaultLimits(), Helper: aah.DefaultLimits(), PDF: pdf.DefaultLimits(), BrowserSandbox: true, Browsers: browser.DefaultLimits(),
	}
}

// leastCheckpoint is the least time between two checkpoints: each writes what has changed.
const leastCheckpoint = time.Minute

// Validate reports all faults of the configuration.
func (c *Config) Validate() error {
	var errs []error
	positive := func(name string, n int) {
		if n < 1 {
			errs = append(errs, fmt.Errorf("%s must be at least 1", name))
		}
	}
	positive("lanes", c.Lanes)
	positive("round", c.Round)
	positive("bundle-plds", c.BundlePLDs)
	positive("bundle-urls", c.BundleURLs)
	positive("step-attempts", c.Attempts)
	positive("deliveries", c.Deliveries)
	positive("politeness-shards", c.Shards)
	positive("max-attempts", c.Fetch.MaxAttempts)
	positive("host-failures", c.Fetch.HostFailures)
	positive("markup-per-page", c.Page.Markup)
	positive("links-per-page", c.Page.Links)
	positive("links-per-sitemap", c.Page.SitemapLinks)
	if c.PDF.Time > 0 && c.PDF.Memory < pdf.LeastMemory {
		errs = append(errs, fmt.Errorf("pdf-memory is %s, must be at least %s; pdf-time 0 reads no PDF files", c.PDF.Memory, pdf.LeastMemory))
	}
	positive("browsers", c.Browsers.Processes)
	if c.Browsers.Memory < browser.LeastMemory {
		errs = append(errs, fmt.Errorf("browser-memory is %s, must be at least %s", c.Browsers.Memory, browser.LeastMemory))
	}
	if c.Browsers.Time < browser.LeastTime {
		errs = append(errs, fmt.Errorf("browser-time must be at least %s", browser.LeastTime))
	}
	if c.Browsers.Scrolls < 0 || c.Browsers.Routes < 0 {
		errs = append(errs, errors.New("browser-scrolls and browser-routes must be 0 or more"))
	}
	if c.LearnEvery < 0 {
		errs = append(errs, errors.New("learn-every must be at least 1, or 0 for never"))
	}
	if c.DiskFloor != 0 && c.DiskFloor < disk.LeastFloor {
		errs = append(errs, fmt.Errorf("disk-floor is %s, must be at least %s: with less room, writes through memory maps end the worker by SIGBUS on a full disk; 0 does not check the disk at all", c.DiskFloor, disk.LeastFloor))
	}
	if !crawl.ValidName(c.Name) { // batches and objects of the archive are named after it
		errs = append(errs, fmt.Errorf("name %q must consist of letters, digits, '.', '-' and '_', begin with a letter or digit, and have at most %d bytes", c.Name, crawl.MaxName))
	}
	if c.Checkpoint != 0 && c.Checkpoint < leastCheckpoint {
		errs = append(errs, fmt.Errorf("checkpoint-every must be at least %s, or 0 for none", leastCheckpoint))
	}
	if c.BatchTime < 10*time.Second {
		errs = append(errs, errors.New("batch-time must be at least 10s"))
	}
	for name, places := range map[string][]string{"archive": {c.Archive}, "archive-allow": c.Archives} {
		for _, where := range places {
			scheme, _, is := strings.Cut(where, "://")
			if is && scheme != "s3" || !is && strings.HasPrefix(where, "s3:") {
				errs = append(errs, fmt.Errorf("%s %q must be s3://bucket/prefix or a directory", name, where))
			}
		}
	}
	for _, s := range []struct{ name, address, such string }{{"dns", c.DNS, "9.9.9.9:53"}, {"listen", c.Listen, "127.0.0.1:9464"}} {
		if _, _, err := net.SplitHostPort(s.address); s.address != "" && err != nil {
			errs = append(errs, fmt.Errorf("%s %q: write ADDR:PORT, such as %s", s.name, s.address, s.such))
		}
	}
	if !slices.Contains([]string{profilesOff, profilesLoopback, profilesOn}, c.Profiles) {
		errs = append(errs, fmt.Errorf("profiles is %q, must be off, loopback or on", c.Profiles))
	}
	if c.LogFormat != logText && c.LogFormat != logJSON {
		errs = append(errs, fmt.Errorf("log-format is %q, must be text or json", c.LogFormat))
	}
	if info, err := os.Stat(c.Knowledge); c.Knowledge != "" && (err != nil || !info.IsDir()) {
		errs = append(errs, fmt.Errorf("kb %q is not a folder", c.Knowledge))
	}
	if c.Temporal.Address != "" { // else `muninn run` starts a server
		errs = append(errs, c.Temporal.Validate())
	}
	if _, err := c.hostGroups(); err != nil {
		errs = append(errs, err)
	}
	if _, err := c.resolved(); err != nil {
		errs = append(errs, err)
	}
	if _, err := fetch.NewGuard(c.Networks, c.Denied); err != nil {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// Validate reports all faults of the settings of the connection.
func (t Temporal) Validate() error {
	var errs []error
	if host, port, err := net.SplitHostPort(t.Address); err != nil || host == "" || port == "" {
		errs = append(errs, fmt.Errorf("temporal %q: write HOST:PORT, such as 127.0.0.1:7233", t.Address))
	}
	if (t.Cert == "") != (t.Key == "") {
		errs = append(errs, errors.New("tls-cert and tls-key go together"))
	}
	return errors.Join(errs...)
}

func (c *Config) resolved() (map[string]netip.Addr, error) {
	out := map[string]netip.Addr{}
	for host, text := range c.Resolve {
		addr, err := netip.ParseAddr(text)
		if err != nil {
			return nil, fmt.Errorf("resolve %s=%s: write HOST=IP", host, text)
		}
		out[host] = addr
	}
	return out, nil
}
