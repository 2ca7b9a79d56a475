package worker

import (
	"os"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/spf13/pflag"
)

// stopMargin is how much longer than hand-over and drain together a service manager is to wait for a worker: it also closes its frontier.
const stopMargin = 10 * time.Second

// TestTimeToStop: what deploy/ gives a worker to stop is more than it may take by the settings of deploy/worker.yaml: else it is killed amid a hand-over.
func TestTimeToStop(t *testing.T) {
	conf := DefaultConfig()
	conf.Flags(pflag.NewFlagSet("worker", pflag.ContinueOnError))
	if err := conf.Load("../deploy/worker.yaml"); err != nil {
		t.Fatal(err)
	}
	need := max(conf.HandOver, leaveWait) + conf.Drain + stopMargin
	for file, setting := range map[string]string{
		"muninn-worker.service":  `(?m)^TimeoutStopSec=(\d+)$`,
		"kubernetes/muninn.yaml": `(?m)^ *terminationGracePeriodSeconds: (\d+)$`,
		"compose.yaml":           `(?m)^ *stop_grace_period: (\d+)s$`,
	} {
		text, err := os.ReadFile("../deploy/" + file)
		if err != nil {
			t.Fatal(err)
		}
		found := regexp.MustCompile(setting).FindSubmatch(text)
		if found == nil {
			t.Errorf("%s: %s is not in it", file, setting)
			continue
		}
		if seconds, err := strconv.Atoi(string(found[1])); err != nil || time.Duration(seconds)*time.Second < need {
			t.Errorf("%s gives a worker %s s to stop; hand-over, drain and a margin take %s", file, found[1], need)
		}
	}
}
