package room

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// Readers says who may read: those who have a token, those whom a proxy names, or who can reach a loopback address.
type Readers struct {
	Token string // of TokenBytes at least; empty: none is asked for
	// Header is set by a proxy in front of the room to the name of the reader; empty: there is none. The proxy must take
	// away what readers send in it, and be the only way to the room.
	Header string
}

// TokenBytes is the least length of a token.
const TokenBytes = 16

// Check finds what is wrong with the readers of a server at an address.
func (r Readers) Check(listen string) error {
	switch {
	case r.Token != "" && len(r.Token) < TokenBytes:
		return fmt.Errorf("the token has %d bytes: it needs %d", len(r.Token), TokenBytes)
	case r.Token != "" && r.Header != "":
		return errors.New("a token and a proxy's header are given: use one of them")
	case strings.ContainsAny(r.Header, " \t\r\n:,;\""):
		return fmt.Errorf("%q is no name of a header", r.Header)
	case r.Token == "" && r.Header == "" && !loopback(listen):
		return fmt.Errorf("%s can be reached from other machines: give a token (--token FILE), a proxy that says who reads (--trust-proxy HEADER), or an address such as 127.0.0.1:8480", listen)
	}
	return nil
}

// loopback reports whether an address, HOST or HOST:PORT, is reached from this machine alone.
func loopback(address string) bool {
	host := address
	if h, _, err := net.SplitHostPort(address); err == nil {
		host = h
	}
	ip, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && ip.IsLoopback() || strings.EqualFold(host, "localhost")
}

// cookieName is that of the cookie that the form sets.
const cookieName = "muninn-room"

// cookie is what it holds: the token does not follow from it.
func (r Readers) cookie() string {
	mac := hmac.New(sha256.New, []byte(r.Token))
	_, _ = mac.Write([]byte("reading room"))
	return hex.EncodeToString(mac.Sum(nil))
}

func same(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}

// admits reports whether a request comes from a reader. why says what is missing.
func (r Readers) admits(req *http.Request) (ok bool, why string) {
	switch {
	case r.Header != "":
		if strings.TrimSpace(req.Header.Get(r.Header)) == "" {
			return false, "the proxy does not say who reads: it sets the header " + r.Header
		}
		return true, ""
	case r.Token != "":
		if bearer, is := strings.CutPrefix(req.Header.Get("Authorization"), "Bearer "); is && same(bearer, r.Token) {
			return true, ""
		}
		for _, c := range req.CookiesNamed(cookieName) {
			if same(c.Value, r.cookie()) {
				return true, ""
			}
		}
		return false, "the token is missing: send it as Authorization: Bearer, or enter it"
	case !loopback(req.Host): // a name that another site resolves to this machine
		return false, "the room is open to this machine alone, by its loopback address"
	}
	return true, ""
}

// form is what a POST of a form has sent: nothing if it is longer than most, in bytes. Bodies of other types are not read: FormValue and its like would write files of
// strangers to the disk.
func form(w http.ResponseWriter, req *http.Request, most int64) url.Values {
	req.Body = http.MaxBytesReader(w, req.Body, most)
	if err := req.ParseForm(); err != nil {
		return nil
	}
	return req.PostForm
}

// login sets the cookie if a token is the right one.
func (r Readers) login(w http.ResponseWriter, req *http.Request, token string) bool {
	if r.Token == "" || !same(strings.TrimSpace(token), r.Token) {
		return false
	}
	http.SetCookie(w, &http.Cookie{
		Name: cookieName, Value: r.cookie(), Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode,
		Secure: req.TLS != nil || req.Header.Get("X-Forwarded-Proto") == "https",
	})
	return true
}

// maxForm bounds the form of the token, in bytes.
const maxForm = 4 << 10
