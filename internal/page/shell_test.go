package page

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestShell: the empty pages that the tools for single-page sites make are shells; short pages, pages in frames and pages that are rendered at the server are none.
func TestShell(t *testing.T) {
	const note = `<noscript>You need to enable JavaScript to run this app.</noscript>`
	for name, c := range map[string]struct{ body, want string }{
		"create-react-app": {`<title>React App</title><body>` + note + `<div id="root"></div><script src=/main.js></script>`, ShellRoot},
		"vite":             {`<title>Vite</title><body><div id="app"></div><script type="module" src="/src/main.ts"></script>`, ShellRoot},
		"vue-cli":          {`<body><noscript><strong>We're sorry but ravens doesn't work properly without JavaScript enabled.</strong></noscript><div id=app></div><script defer src=/js/app.js></script>`, ShellRoot},
		"angular":          {`<body><app-root><p>Loading…</p></app-root><script src="main.js" type="module"></script>`, ShellRoot},
		"next":             {`<body><div id="__next"></div><script id="__NEXT_DATA__" type="application/json">{}</script><script src=/_next/main.js></script>`, ShellRoot},
		"nuxt":             {`<body><div id="__nuxt"><div class=spinner></div></div><script>window.__NUXT__={}</script>`, ShellRoot},
		"gatsby":           {`<body><div id="___gatsby"></div><script src=/app.js></script>`, ShellRoot},
		"ember":            {`<body><div id="ember-basic-dropdown-wormhole"></div><script src=/assets/ravens.js></script>`, ShellRoot},
		"static header":    {`<body><header><a href=/>Ravens</a> <a href=/about>About</a></header><main id="app-content"></main><footer>The library of ravens</footer><script src=/list.js></script>`, ShellRoot},
		"note alone":       {`<body>` + note + `<div id=content></div><script src=/x.js></script>`, ShellNoScript},
		"custom element":   {`<body><raven-list></raven-list><script src=/x.js></script>`, ShellBare},
		"bare":             {`<body><div class=page></div><script src=/bundle.js></script>`, ShellBare},

		"no scripts":    {`<body><div id=root></div>`, ""},
		"data only":     {`<body><div id=root></div><script type="application/ld+json">{}</script>`, ""},
		"rendered":      {`<body>` + note + `<div id="root"><h1>Ravens</h1><p>Ravens are large birds.</p><a href=/a>More</a></div><script src=/main.js></script>`, ""},
		"short page":    {`<body><h1>Moved</h1><p>The page is <a href=/new>here</a>.</p><script src=/count.js></script>`, ""},
		"frames":        {`<frameset><frame src=/a><frame src=/b></frameset><script>1</script>`, ""},
		"frame":         {`<body><div id=root></div><iframe src=/a></iframe><script>1</script>`, ""},
		"refresh":       {`<meta http-equiv=refresh content="0; url=/home"><script>1</script>`, ""},
		"picture":       {`<body><img src=/raven.jpg><script src=/count.js></script>`, ""},
		"form":          {`<body><form action=/search><input name=q></form><script src=/x.js></script>`, ""},
		"long text":     {`<body><div id=app></div>` + strings.Repeat("<p>Ravens are large birds.</p>", 60) + `<script src=/x.js></script>`, ""},
		"note and text": {`<body>` + note + strings.Repeat("<p>Ravens are large birds.</p>", 20) + `<script src=/x.js></script>`, ""},
		"other word":    {`<body><div id=approach></div><p>Ravens. <a href=/>Home</a></p><script src=/x.js></script>`, ""},
	} {
		d := Parse(Input{URL: "http://a.test/", MIME: "text/html", Body: []byte(c.body)}, DefaultLimits())
		if got := d.Shell(); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	if d := Parse(Input{URL: "http://a.test/a.css", MIME: "text/css", Body: []byte("a{}")}, DefaultLimits()); d.Shell() != "" {
		t.Errorf("a style sheet is a shell: %q", d.Shell())
	}
}

// TestShellOfRealPages: of saved pages that are rendered at their servers at most one in two hundred would be opened in a browser for nothing.
func TestShellOfRealPages(t *testing.T) {
	pages, shells := 0, []string{}
	err := filepath.WalkDir(testData(t, "aah"), func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(path, ".html") {
			return err
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		pages++
		if why := Parse(Input{URL: "http://a.test/dir/page", MIME: "text/html", Body: raw}, DefaultLimits()).Shell(); why != "" {
			shells = append(shells, filepath.Join(filepath.Base(filepath.Dir(path)), filepath.Base(path))+": "+why)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d of %d pages are shells: %q", len(shells), pages, shells)
	if pages == 0 || len(shells)*200 > pages {
		t.Errorf("%d of %d pages are shells", len(shells), pages)
	}
}
