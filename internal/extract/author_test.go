package extract

import "testing"

func TestVisibleAuthor(t *testing.T) {
	for _, c := range []struct{ name, html, author string }{
		{"a link that says so", `<h1>Ravens</h1><p>from <a rel="author" href="/h">hugo17</a></p>TEXT`, "hugo17"},
		{"a link with a short name", `<h1>Ravens</h1><p>from <a rel="author" href="/h">hugo</a></p>TEXT`, "hugo"},
		{"a class", `<h1>Ravens</h1><p class="byline">By Hugo Munin, 21 November 2026</p>TEXT`, "Hugo Munin"},
		{"a property", `<h1>Ravens</h1><p><span itemprop="author"><span itemprop="name">Hugo Munin</span></span></p>TEXT`, "Hugo Munin"},
		{"text", `<h1>Ravens</h1><p>by Hugo Munin on 21 November 2026</p>TEXT`, "Hugo Munin"},
		{"a month without preposition", `<h1>Ravens</h1><p>By Hugo Munin November 21, 2026</p>TEXT`, "Hugo Munin"},
		{"behind the date", `<h1>Ravens</h1><p>21.11.2026 von Hugo van Munin</p>TEXT`, "Hugo van Munin"},
		{"a name that is a word for until", `<h1>Ravens</h1><p>By Till Corvi, 21 November 2026</p>TEXT`, "Till Corvi"},
		{"the same within", `<h1>Ravens</h1><p class="author">Hugo Till Corvi</p>TEXT`, "Hugo Till Corvi"},
		{"particles in a text", `<h1>Ravens</h1><p>By Ursula von der Raben</p>TEXT`, "Ursula von der Raben"},
		{"a particle behind a word for by", `<h1>Raben</h1><p>Geschrieben von Ursula von der Raben am 21.11.2026</p>TEXT`, "Ursula von der Raben"},
		{"Italian", `<h1>Corvi</h1><p>di Giovanni di Stefano</p>TEXT`, "Giovanni di Stefano"},
		{"Dutch", `<h1>Raven</h1><p>Door Jan van de Raaf</p>TEXT`, "Jan van de Raaf"},
		{"Arabic names", `<h1>Ravens</h1><p>By Tariq bin Ziyad al Ghurab, 21 November 2026</p>TEXT`, "Tariq bin Ziyad al Ghurab"},
		{"French", `<h1>Corbeaux</h1><p>Par Anne de la Tour, le 21/11/2026</p>TEXT`, "Anne de la Tour"},
		{"a second writer", `<h1>Raben</h1><p>Von Hugo Munin | von Karl Ravn</p>TEXT`, "Hugo Munin"},
		{"several", `<h1>Ravens</h1><p>Written by Hugo Munin, Edda Corvi and Al Poe</p>TEXT`, "Hugo Munin, Edda Corvi and Al Poe"},
		{"with a colon", `<h1>Ravens</h1><p>Autor: Hugo Munin | Quelle: Turm</p>TEXT`, "Hugo Munin"},
		{"a word of its own before it", `<h1>Ravens</h1><div>by</div><div>Hugo Munin</div>TEXT`, "Hugo Munin"},
		{"the name of the site in the head", `<head><meta name="author" content="Team Tower"></head><h1>Ravens</h1><p class="author">Hugo Munin</p>TEXT<footer>© 2021 Team Tower</footer>`, "Hugo Munin"},
		{"the same without another", `<head><meta name="author" content="Team Tower"></head><h1>Ravens</h1>TEXT<footer>© 2021 Team Tower</footer>`, "Team Tower"},
		{"several elements", `<h1>Ravens</h1><p><a rel="author" href="/a">Hugo Munin</a>, <a rel="author" href="/b">Edda Corvi</a></p>TEXT`, "Hugo Munin, Edda Corvi"},
		{"the address of an author", `<h1>Ravens</h1><p><a href="/authors/hugo">Hugo Munin</a></p>TEXT`, "Hugo Munin"},
		{"the picture of an author", `<h1>Ravens</h1><p class="author-avatar">Hugo Munin</p>TEXT`, ""},
		{"with the reading time", `<h1>Ravens</h1><p>March 5, 2021 · 4 min · Hugo Munin</p>TEXT`, "Hugo Munin"},
		{"the same without a name", `<h1>Ravens</h1><p>March 5, 2021 · 4 min · the coast</p>TEXT`, ""},
		{"Russian", `<h1>Ravens</h1><p>Автор: Иван Воронов</p>TEXT`, "Иван Воронов"},
		{"Japanese", `<h1>Ravens</h1><p>作者：雨果</p>TEXT`, "雨果"},
		{"Japanese with a date", `<h1>烏</h1><p>2026年11月21日 投稿者：山田 太郎</p>TEXT`, "山田 太郎"},
		{"Chinese behind source and date", `<h1>塔上的乌鸦</h1><p>来源：高塔晚报城市新闻编辑部与自然观察频道及读者来信栏目 2026年11月21日 10:20 作者：张三</p>TEXT`, "张三"},
		{"Chinese before the date", `<h1>塔上的乌鸦</h1><p>记者：张三 2026年11月21日</p>TEXT`, "张三"},
		{"Korean", `<h1>까마귀</h1><p>작성자: 김까마 | 2026.11.21</p>TEXT`, "김까마"},
		{"a sentence of a journalist", `<h1>塔上的乌鸦</h1><p>记者从市公安局获悉，一名男子被捕。</p>TEXT`, ""},
		{"the same without a sign", `<h1>塔上的乌鸦</h1><p>記者從市政府獲悉塔上的烏鴉已經歸來</p>TEXT`, ""},
		{"a journalist alone", `<h1>塔上的乌鸦</h1><p>记者张三</p>TEXT`, "张三"},
		{"two journalists", `<h1>塔上的乌鸦</h1><p>记者张三、李四</p>TEXT`, "张三、李四"},
		{"a long name behind a colon", `<h1>塔上的乌鸦</h1><p>作者：高塔晚报编辑部</p>TEXT`, "高塔晚报编辑部"},
		{"a sentence behind a colon", `<h1>塔上的乌鸦</h1><p>作者：乌鸦已经归来，人们很高兴</p>TEXT`, ""},
		{"a name in Katakana", `<h1>烏</h1><p>著者 ヴィクトル・ユーゴー</p>TEXT`, "ヴィクトル・ユーゴー"},
		{"a menu in the row of the text", `<table><tr><td><a href="/n">News of the old society</a> <p>12</p></td><td><h1>Ravens</h1>TEXT<p>Birds</p><p class="author">Hugo Munin</p></td></tr></table>`, "Hugo Munin"},
		{"what made the site", `<h1>Ravens</h1>TEXT<p>Powered by Raven Engine</p>`, ""},
		{"another work", `<h1>Ravens</h1><p>The Book by Hugo Munin</p>TEXT`, ""},
		{"a sentence", `<h1>Ravens</h1><p>By the people of the tower</p>TEXT`, ""},
		{"the site", `<head><meta property="og:site_name" content="The Tower"></head><h1>Ravens</h1><p class="author">The Tower</p>TEXT`, ""},
		{"comments", `<h1>Ravens</h1>TEXT<div class="comments"><p class="author">Hugo Munin</p></div>`, ""},
		{"the head comes first", `<head><meta name="author" content="Munin"></head><h1>Ravens</h1><p class="author">Hugo</p>TEXT`, "Munin"},
		{"a name that begins with a word for by", `<head><meta name="author" content="Di Stefano, Mario"></head><h1>Ravens</h1>TEXT`, "Di Stefano, Mario"},
		{"particles within a name", `<h1>Ravens</h1><p class="author">Ursula von der Raben</p>TEXT`, "Ursula von der Raben"},
		{"two names and what the second is", `<h1>Ravens</h1><p>By Ann Corvi, Bo Ravn, Birds Editor</p>TEXT`, "Ann Corvi, Bo Ravn"},
		{"a title of nobility", `<head><meta name="author" content="von der Raben, Ursula"></head><h1>Ravens</h1>TEXT`, "von der Raben, Ursula"},
		{"a word in the head", `<head><meta name="author" content="By Munin Corax"></head><h1>Ravens</h1>TEXT`, "Munin Corax"},
	} {
		if got := articleOf(t, "http://a.test/ravens", c.html).Get("author"); got != c.author {
			t.Errorf("%s: %q, want %q", c.name, got, c.author)
		}
	}
}
