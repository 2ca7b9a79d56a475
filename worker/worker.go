// Package worker connects the parts of a worker: frontier, spool, archive, fetcher and helper, and the Temporal workers that
// run workflows and activities with them.
package worker

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/interceptor"
	sdklog "go.temporal.io/sdk/log"
	sdk "go.temporal.io/sdk/worker"

	"github.com/muninn-archive/muninn/activities"
	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/adapt"
	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/browser"
	"github.com/muninn-archive/muninn/internal/disk"
	"github.com/muninn-archive/muninn/internal/fetch"
	"github.com/muninn-archive/muninn/internal/learning"
	"github.com/muninn-archive/muninn/internal/pdf"
	"github.com/muninn-archive/muninn/internal/pipeline"
	"github.com/muninn-archive/muninn/internal/score"
	"github.com/muninn-archive/muninn/internal/spool"
	"github.com/muninn-archive/muninn/internal/version"
	"github.com/muninn-archive/muninn/workflows"
)

// folderRules is where the helper keeps the rules that it learns, a file for each host.
const folderRules = "learned"

// Worker is a running worker.
type Worker struct {
	conf     Config
	log      *slog.Logger
	client   client.Client
	metrics  *sdkMetrics // of the client
	front    *frontier.Frontier
	browsers *browser.Pool // nil: there is no Chromium
	acts     *activities.Activities
	meter    *meter
	untaken  learning.Backlog
	workers  []sdk.Worker
	steps    draining
	server   *server
	fatal    chan error
	instance string // of the data folder
	started  time.Time
	member   *activities.Membership
	ring     *ringClient    // nil before the worker has a connection to Temporal
	starting starting       // what it waits for
	stopped  chan struct{}  // closed when the worker stops
	tidying  sync.WaitGroup // goroutines beside the steps, which Stop waits for
}

// dialTimeout is how long the Temporal service may take to answer a connection.
const dialTimeout = 15 * time.Second

// Start starts a worker. It waits for a Temporal service and an archive that do not answer, for as long as the configuration says. Its error lists everything
// that is wrong.
func Start(ctx context.Context, conf Config, log *slog.Logger) (*Worker, error) {
	if err := conf.Validate(); err != nil {
		return nil, err
	}
	conf.fillIn()
	w := &Worker{conf: conf, log: log, starting: newStarting(log), member: activities.NewMembership(conf.Name, processName()), meter: newMeter(), fatal: make(chan error, 2), stopped: make(chan struct{}), started: time.Now()}
	if err := w.open(ctx); err != nil {
		w.Stop()
		return nil, err
	}
	w.starting.done()
	return w, nil
}

// open opens what the steps need, connects to Temporal and runs. Its error lists everything that is wrong.
func (w *Worker) open(ctx context.Context) (err error) {
	if w.server, err = serve(w.conf.Listen, w); err == nil { // before all else: it says what the worker waits for
		err = w.checkFormer(ctx)
	}
	if err == nil {
		err = w.openAll(ctx)
	}
	if err := errors.Join(err, w.connect(ctx, err == nil)); err != nil {
		return err
	}
	w.acts.Client, w.acts.Settings.Instance = w.client, w.instance
	if err := activities.CheckShards(ctx, w.client, w.conf.Shards); err != nil {
		return err
	}
	sdk.SetStickyWorkflowCacheSize(4096)
	if err := w.poll(names.ClusterQueue); err != nil { // the ring and politeness may have no other worker
		return err
	}
	if err := w.joinRing(ctx); err != nil {
		return err
	}
	for shard := w.conf.Shards - 1; shard >= 0; shard-- { // the first one last: see StartPoliteness
		if err := activities.StartPoliteness(ctx, w.client, shard, w.conf.Shards, nil); err != nil {
			return fmt.Errorf("start politeness shard %d: %w", shard, err)
		}
	}
	if err := w.movePoliteness(ctx); err != nil {
		return err
	}
	warnOfShards(w.log, w.conf.Shards)
	w.registerCollectors()
	w.tidying.Go(w.sweepRegularly)
	w.tidying.Go(w.checkpointRegularly)
	w.tidying.Go(w.watchForRival)
	w.tidying.Go(w.learnTogether)
	if err := w.poll(w.conf.Temporal.Queue); err != nil {
		return err
	}
	if err := w.pollFew(names.DeriveQueue(w.conf.Temporal.Queue), derivedAtOnce); err != nil {
		return err
	}
	if w.acts.Database != nil {
		if err := w.pollFew(names.ViewsQueue(w.conf.Temporal.Queue), viewedAtOnce); err != nil {
			return err
		}
	}
	return w.poll(names.WorkerQueue(w.conf.Temporal.Queue, w.conf.Name))
}

// checkFormer refuses workflows that this version cannot continue, if Temporal answers, before the data folder is brought into the present format: the
// version that wrote it could not open it again, and must be able to end its crawls.
func (w *Worker) checkFormer(ctx context.Context) error {
	if err := w.connect(ctx, false); err != nil {
		return nil // it is waited for, or reported, once the folder is open
	}
	return activities.CheckShards(ctx, w.client, w.conf.Shards)
}

// connect connects to Temporal. If patient, it waits for a service that does not answer. It is not patient if the worker cannot start anyway.
func (w *Worker) connect(ctx context.Context, patient bool) (err error) {
	if w.instance, err = instanceOf(w.conf.Data); err != nil {
		return err
	}
	if w.metrics == nil {
		w.metrics = newSDKMetrics(w.meter.registry)
	}
	name := identity(w.conf.Name, w.instance, w.started)
	return w.starting.await(ctx, "the Temporal service at "+w.conf.Temporal.Address, w.patience(patient), temporalAway, func() (err error) {
		if w.client == nil {
			w.client, err = dial(ctx, w.conf.Temporal, w.log, w.metrics, name)
		}
		if err == nil {
			err = RegisterAttributes(ctx, w.client, w.conf.Temporal.Namespace)
		}
		return err
	})
}

// openAll opens what the steps need.
func (w *Worker) openAll(ctx context.Context) error {
	conf, room := w.conf, disk.New(w.conf.Data, w.conf.DiskFloor)
	if err := checkDisk(room); err != nil {
		return err
	}
	var errs [5]error
	w.front, errs[0] = frontier.OpenContext(ctx, filepath.Join(conf.Data, frontier.Folder), frontier.Options{Room: room.Writes, Rights: w.member.Rights(), Log: w.log})
	if errs[0] != nil {
		return errs[0] // another process has the frontier, and the spool with it: leave both alone
	}
	sp, err := spool.Open(filepath.Join(conf.Data, "spool"))
	if err != nil {
		return err
	}
	helper, err := openHelper(conf)
	errs[1] = err
	if err == nil {
		helper.Adaptations, errs[2] = adapt.OpenStore(filepath.Join(conf.Data, folderRules))
		helper.OnError = func(err error) { w.log.Error("the helper continues without what it learned", "error", err) }
	}
	fetcher, err := newFetcher(conf, sp.TempDir(), w.meter.Resolved)
	errs[3] = err
	groups, err := conf.hostGroups()
	if err != nil {
		return err
	}
	archives := conf.archives()
	archives.Wrap = func(s archive.Store) archive.Store { return measuredStore{s, w.meter} }
	errs[4] = w.starting.await(ctx, "the archive "+conf.Archive, w.patience(errors.Join(errs[:]...) == nil), archive.Away, func() error { return openArchive(ctx, archives) })
	if err := errors.Join(errs[:]...); err != nil {
		return err
	}
	engine := pipeline.New(w.front, helper, score.NewDictionary(), conf.Page, time.Now)
	if conf.PDF.Time > 0 {
		engine.PDF = pdf.New(conf.PDF)
	}
	engine.Worker = conf.Name
	engine.Handover.Bound(int64(conf.HandedBytes))
	activities.Observe(engine)
	w.acts = &activities.Activities{
		Settings: activities.Settings{
			Worker: conf.Name, Queue: conf.Temporal.Queue, Shards: conf.Shards, Lanes: conf.Lanes, Round: conf.Round,
			Linger: conf.Linger, BatchTime: conf.BatchTime, BundlePLDs: conf.BundlePLDs, BundleURLs: conf.BundleURLs, Attempts: conf.Attempts,
			GiveBack: conf.GiveBack, Deliveries: conf.Deliveries, Software: version.Software(),
		},
		Frontier: w.front, Spool: sp, Disk: room, Fetch: fetcher, Engine: engine,
		Archives: archives, Meter: w.meter, Now: time.Now,
		Groups: groups, Log: w.log, Database: conf.database(),
		Allow: activities.Allow{Seeds: conf.Seeds, Thesauri: conf.Thesauri, IgnoreRobots: conf.IgnoreRobots},
	}
	switch w.browsers, err = newBrowsers(conf, w.log.Warn); {
	case err == nil:
		w.acts.Browser = w.browsers
	case conf.Browser == "":
		w.acts.NoBrowser = err.Error()
	default:
		return err
	}
	w.acts.Holds = append(w.acts.Holds, activities.BrowserHold(w.acts), activities.DiskHold(w.acts), activities.ArchiveHold(w.acts), activities.DeliveryHold(w.acts), activities.OwingHold(w.acts))
	return nil
}

// newBrowsers makes the pool of browsers; the error says why there are none.
func newBrowsers(conf Config, warn func(string, ...any)) (*browser.Pool, error) {
	path, err := browser.Find(conf.Browser)
	if err != nil {
		return nil, err
	}
	return browser.New(browser.Program{Path: path, Folder: filepath.Join(conf.Data, "browsers"), Sandbox: conf.BrowserSandbox, Warn: warn}, conf.Browsers)
}

func newFetcher(conf Config, tmp string, resolved func(took time.Duration, err error)) (*fetch.Client, error) {
	guard, err := fetch.NewGuard(conf.Networks, conf.Denied)
	if err != nil {
		return nil, err
	}
	fixed, err := conf.resolved()
	if err != nil {
		return nil, err
	}
	resolver, err := fetch.NewResolver(fixed, conf.DNS)
	if err != nil {
		return nil, err
	}
	resolver.Observe = resolved
	return fetch.New(fetch.Options{Limits: conf.Fetch, Guard: guard, Resolver: resolver, VerifyTLS: conf.VerifyTLS, TempDir: tmp}), nil
}

// poll starts the Temporal worker of a queue: that of the cluster, the shared one, or the worker's own.
func (w *Worker) poll(queue string) error {
	tw := sdk.New(w.client, queue, sdk.Options{
		Interceptors:                            []interceptor.WorkerInterceptor{&attemptInterceptor{meter: w.meter, steps: &w.steps}, activities.Interceptor(w.acts)},
		WorkerStopTimeout:                       w.conf.Drain,
		MaxConcurrentActivityExecutionSize:      2*w.conf.Lanes + 64,
		MaxConcurrentWorkflowTaskExecutionSize:  64,
		MaxConcurrentEagerActivityExecutionSize: 2*w.conf.Lanes + 64,
		LocalActivityWorkerOnly:                 queue == names.ClusterQueue, // its workflows have their activities on the workers' queues
		OnFatalError:                            w.fails,
	})
	workflows.Register(tw)
	if queue != names.ClusterQueue {
		activities.Register(tw, w.acts)
	}
	return w.begin(tw, queue)
}

// derivedAtOnce is how many segments a worker derives at a time: each has a page with its tree in memory, and takes a processor that crawls want.
const derivedAtOnce = 2

// viewedAtOnce is how many Views activities a worker runs at a time: each holds the texts of a segment.
const viewedAtOnce = 2

// pollFew starts the Temporal worker of a queue without workflows, of whose activities few run at a time.
func (w *Worker) pollFew(queue string, most int) error {
	tw := sdk.New(w.client, queue, sdk.Options{
		Interceptors:      []interceptor.WorkerInterceptor{&attemptInterceptor{meter: w.meter, steps: &w.steps}, activities.Interceptor(w.acts)},
		WorkerStopTimeout: w.conf.Drain, MaxConcurrentActivityExecutionSize: most, DisableWorkflowWorker: true, OnFatalError: w.fails,
	})
	activities.Register(tw, w.acts)
	return w.begin(tw, queue)
}

// fails reports an error after which the worker cannot continue.
func (w *Worker) fails(err error) {
	select {
	case w.fatal <- err:
	default:
	}
}

// begin starts a Temporal worker.
func (w *Worker) begin(tw sdk.Worker, queue string) error {
	if err := tw.Start(); err != nil {
		return fmt.Errorf("start worker on queue %s: %w", queue, err)
	}
	w.workers = append(w.workers, tw)
	return nil
}

// movePoliteness has the shards continue on the queue of the cluster that a worker of an earlier version started on its own shared queue.
func (w *Worker) movePoliteness(ctx context.Context) error {
	for shard := range w.conf.Shards {
		from, err := activities.MovePoliteness(ctx, w.client, shard)
		if err != nil {
			return fmt.Errorf("move politeness shard %d: %w", shard, err)
		}
		if from != "" && from != w.conf.Temporal.Queue {
			w.log.Warn("a politeness shard runs on the task queue of an earlier version's worker: it moves when a worker of this version polls that queue",
				"shard", shard, "queue", from, "to", names.ClusterQueue)
		}
	}
	return nil
}

// Client is the worker's connection to Temporal.
func (w *Worker) Client() client.Client { return w.client }

// Activities are the worker's steps, for programs that run a worker in their process.
func (w *Worker) Activities() *activities.Activities { return w.acts }

// Fatal yields the error after which the worker cannot continue.
func (w *Worker) Fatal() <-chan error { return w.fatal }

// Stop drains the worker: activities finish, or stop where a later attempt can continue. Then it closes what Start has opened.
// Nothing is lost if the worker is killed instead.
func (w *Worker) Stop() {
	if w.ring != nil {
		w.ring.leave()
	}
	w.stopSteps()
	close(w.stopped)
	w.tidying.Wait()
	if w.server != nil {
		w.server.close()
	}
	if w.browsers != nil {
		w.browsers.Close()
	}
	if w.acts != nil && w.acts.Database != nil {
		if err := w.acts.Database.Close(); err != nil {
			w.log.Error("close the database of the views", "error", err)
		}
	}
	if w.front != nil {
		if err := w.front.Close(); err != nil {
			w.log.Error("close frontier", "error", err)
		}
	}
	if w.client != nil {
		w.client.Close()
	}
}

// Dial connects to Temporal, and waits up to 15 seconds for an answer.
func Dial(ctx context.Context, t Temporal, log *slog.Logger) (client.Client, error) {
	return dial(ctx, t, log, nil, "")
}

func dial(ctx context.Context, t Temporal, log *slog.Logger, metrics client.MetricsHandler, identity string) (client.Client, error) {
	options := client.Options{HostPort: t.Address, Namespace: t.Namespace, Logger: sdklog.NewStructuredLogger(log), MetricsHandler: metrics, Identity: identity}
	if t.TLS || t.CA != "" || t.Cert != "" {
		conf, err := t.tls()
		if err != nil {
			return nil, err
		}
		options.ConnectionOptions.TLS = conf
	}
	if t.APIKey != "" {
		options.Credentials = client.NewAPIKeyStaticCredentials(t.APIKey)
	}
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	c, err := client.DialContext(ctx, options)
	if err != nil {
		return nil, fmt.Errorf("no Temporal service answers at %s (--temporal): %w", t.Address, err)
	}
	return c, nil
}

func (t Temporal) tls() (*tls.Config, error) {
	conf := &tls.Config{ServerName: t.ServerName, MinVersion: tls.VersionTLS12}
	if t.CA != "" {
		pem, err := os.ReadFile(t.CA)
		if err != nil {
			return nil, fmt.Errorf("tls-ca: %w", err)
		}
		conf.RootCAs = x509.NewCertPool()
		if !conf.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("tls-ca: %s has no PEM certificate", t.CA)
		}
	}
	if t.Cert != "" {
		pair, err := tls.LoadX509KeyPair(t.Cert, t.Key)
		if err != nil {
			return nil, fmt.Errorf("tls-cert, tls-key: %w", err)
		}
		conf.Certificates = []tls.Certificate{pair}
	}
	return conf, nil
}
