package aah

import (
	"testing"

	"github.com/muninn-archive/muninn/kb"
)

// embedded is what articles of other software have of an application: widgets, pictures, scripts and style sheets of its hosts, and what is pasted out of its pages.
var embedded = []struct{ name, html string }{
	{"WordPress pictures of another site", `<link rel="stylesheet" href="https://other.test/wp-content/themes/nest/style.css"><p><img src="https://i0.wp.com/other.test/wp-content/uploads/2026/11/raven.jpg"></p>`},
	{"WordPress oEmbed", `<blockquote class="wp-embedded-content" data-secret="x1"><a href="https://other.test/ravens/">Ravens</a></blockquote><iframe class="wp-embedded-content" sandbox="allow-scripts" src="https://other.test/ravens/embed/#?secret=x1"></iframe>`},
	{"WordPress blocks, pasted", `<figure class="wp-block-image size-large"><img class="wp-image-12" src="/pictures/raven.jpg"></figure><p class="has-text-align-center">Ravens.</p>`},
	{"Drupal style sheet of another site", `<link rel="stylesheet" href="https://other.test/sites/all/themes/nest/style.css"><img src="https://other.test/sites/default/files/styles/large/public/raven.jpg?itok=Ab12">`},
	{"Discourse comments", `<div id="discourse-comments"></div><script>DiscourseEmbed = { discourseUrl: 'https://forum.other.test/', topicId: 7 }; var d = document.createElement('script'); d.src = DiscourseEmbed.discourseUrl + 'javascripts/embed.js';</script><a href="https://forum.other.test/t/ravens/7">Discuss on Discourse</a>`},
	{"Disqus and Blogger pictures", `<img src="https://1.bp.blogspot.com/-abc/raven.jpg"><img src="https://blogger.googleusercontent.com/img/b/R29/raven.png"><a href="https://ravens.blogspot.com/">a blog</a>`},
	{"Blogger follow button", `<a href="https://www.blogger.com/follow.g?view=FOLLOW&blogID=123"><img src="https://www.blogger.com/img/follow.gif"></a><a href="https://www.blogger.com/profile/123">profile</a>`},
	{"Shopify buy button", `<div id="product-component-1"></div><script src="https://sdks.shopifycdn.com/buy-button/latest/buy-button-storefront.min.js"></script><img src="https://cdn.shopify.com/s/files/1/0001/products/feather.jpg">`},
	{"Squarespace pictures", `<img src="https://static1.squarespace.com/static/5a/t/raven.jpg"><img src="https://images.squarespace-cdn.com/content/v1/raven.jpg">`},
	{"Wix pictures", `<img src="https://static.wixstatic.com/media/raven.jpg/v1/fill/w_400/raven.jpg">`},
	{"Medium stories", `<script async src="https://static.medium.com/embed.js"></script><a class="m-story" href="https://medium.com/@hugin/ravens-1a2b3c">Ravens</a><img src="https://miro.medium.com/max/1400/1*raven.jpeg"><img src="https://cdn-images-1.medium.com/max/800/1*raven.jpeg">`},
	{"Tumblr post", `<div class="tumblr-post" data-href="https://embed.tumblr.com/embed/post/x/123"><a href="https://ravens.tumblr.com/post/123">ravens</a></div><script async src="https://assets.tumblr.com/post.js"></script>`},
	{"Tumblr share button", `<a class="tumblr-share-button" href="https://www.tumblr.com/share">Post</a><script src="https://assets.tumblr.com/share-button.js"></script><img src="https://64.media.tumblr.com/a/raven.jpg">`},
	{"Reddit thread", `<blockquote class="reddit-embed-bq"><a href="https://www.reddit.com/r/birds/comments/1/ravens/">Ravens</a> by <a href="https://www.reddit.com/user/hugin/">u/hugin</a></blockquote><script async src="https://embed.reddit.com/widgets.js"></script><img src="https://preview.redd.it/raven.jpg">`},
	{"Reddit share button", `<a href="https://www.reddit.com/submit?url=x"><img src="https://www.redditstatic.com/spreddit1.gif"></a>`},
	{"Mastodon post", `<iframe src="https://mastodon.social/@hugin/123/embed" class="mastodon-embed"></iframe><script src="https://mastodon.social/embed.js" async></script><a rel="me" href="https://mastodon.social/@hugin">Mastodon</a>`},
	{"Flickr picture", `<a data-flickr-embed="true" href="https://www.flickr.com/photos/hugin/123/"><img src="https://live.staticflickr.com/1/123_x.jpg"></a><script async src="//embedr.flickr.com/assets/client-code.js"></script>`},
	{"YouTube film", `<iframe src="https://www.youtube.com/embed/abc"></iframe><img src="https://i.ytimg.com/vi/abc/hqdefault.jpg"><script src="https://www.youtube.com/iframe_api"></script><a href="https://www.youtube.com/watch?v=abc">film</a>`},
	{"Vimeo film", `<iframe src="https://player.vimeo.com/video/123"></iframe><script src="https://player.vimeo.com/api/player.js"></script><img src="https://i.vimeocdn.com/video/123.jpg">`},
	{"PeerTube film", `<iframe src="https://tube.other.test/videos/embed/9c9de5e8-0a1e-484a-b099-e80766180a6d"></iframe><a href="https://tube.other.test/w/abc">film on PeerTube</a>`},
	{"GitHub gist", `<link rel="stylesheet" href="https://github.githubassets.com/assets/gist-embed-1.css"><div id="gist1" class="gist"><div class="gist-file"><div class="gist-data"><div class="js-gist-file-update-container js-task-list-container"><div class="file"><div itemprop="text" class="Box-body p-0 blob-wrapper data type-go"><table class="highlight tab-size js-file-line-container"><tr><td class="blob-num js-line-number"></td><td class="blob-code blob-code-inner js-file-line">func main() {}</td></tr></table></div></div></div></div></div></div>`},
	{"GitHub badges and buttons", `<a class="github-fork-ribbon" href="https://github.com/hugin/ravens">Fork me on GitHub</a><img src="https://github.com/hugin/ravens/workflows/CI/badge.svg"><img src="https://avatars.githubusercontent.com/u/1"><script async src="https://buttons.github.io/buttons.js"></script>`},
	{"GitLab snippet", `<script src="https://gitlab.com/-/snippets/123.js"></script><link rel="stylesheet" href="https://gitlab.com/assets/snippets.css"><div class="gitlab-embed-snippets"><div class="js-snippet file-holder snippet-file-content"><pre class="code highlight"><code>x</code></pre></div></div>`},
	{"Gitea badge", `<a href="https://codeberg.org/hugin/ravens"><img src="https://codeberg.org/assets/img/logo.svg" alt="Powered by Gitea"></a>`},
	{"Stack Exchange flair", `<a href="https://stackexchange.com/users/1/hugin"><img src="https://stackexchange.com/users/flair/1.png"></a><img src="https://cdn.sstatic.net/Sites/stackoverflow/img/logo.png"><img src="https://i.stack.imgur.com/raven.png"><a href="https://stackoverflow.com/questions/7/ravens">question</a>`},
	{"HubSpot forms and statistics", `<script src="//js.hsforms.net/forms/v2.js"></script><script id="hs-script-loader" async defer src="//js.hs-scripts.com/123.js"></script><script src="https://js.hs-analytics.net/analytics/1/123.js"></script><div id="hubspot-messages-iframe-container"></div><div class="hs-form-frame"><form class="hs-form hs-form-private hsForm_1" action="https://forms.hsforms.com/submissions/v3/public/submit/formsnext/1"></form></div>`},
	{"HubSpot call to action", `<span class="hs-cta-wrapper" id="hs-cta-wrapper-1"><span class="hs-cta-node hs-cta-1"><a href="https://cta-redirect.hubspot.com/cta/redirect/1/2"><img class="hs-cta-img" src="https://no-cache.hubspot.com/cta/default/1/2.png"></a></span></span>`},
	{"Gatsby pictures, pasted", `<div class="gatsby-image-wrapper"><picture><img src="/static/raven.jpg"></picture></div><a href="https://www.gatsbyjs.com/">Built with Gatsby</a>`},
	{"Webflow pictures", `<img src="https://uploads-ssl.webflow.com/5a/raven.jpg"><img src="https://cdn.prod.website-files.com/5a/raven.jpg"><script src="https://assets.website-files.com/5a/js/nest.js"></script><div class="w-richtext"><p>Ravens.</p></div>`},
	{"Substack post", `<div class="substack-post-embed"><p lang="en">Ravens</p><a data-post-link href="https://hugin.substack.com/p/ravens">Read on Substack</a></div><script async src="https://substack.com/embedjs/embed.js"></script><iframe src="https://hugin.substack.com/embed"></iframe><img src="https://substackcdn.com/image/fetch/raven.png">`},
	{"Ghost subscription", `<script src="https://cdn.jsdelivr.net/ghost/signup-form@~0.1/umd/signup-form.min.js" data-site="https://other.test/" async></script><img src="https://other.test/content/images/2026/11/raven.jpg"><figure class="kg-card kg-image-card"><img class="kg-image" src="/raven.jpg"></figure>`},
	{"Piwigo pictures", `<img src="https://photos.other.test/_data/i/upload/2026/11/21/raven-me.jpg"><img src="https://photos.other.test/i.php?/upload/2026/11/21/raven-sm.jpg"><a href="https://photos.other.test/picture.php?/12/category/3">Piwigo</a>`},
	{"Coppermine pictures", `<a href="https://photos.other.test/displayimage.php?album=1&pid=7"><img src="https://photos.other.test/albums/userpics/10001/thumb_raven.jpg"></a>`},
	{"Vanilla comments", `<div id="vanilla-comments"></div><script>var vanilla_forum_url = 'https://forum.other.test/'; var vanilla_identifier = '7';</script><script src="https://forum.other.test/js/embed.js"></script>`},
	{"Magento pictures and style sheet", `<link rel="stylesheet" href="https://shop.other.test/skin/frontend/base/default/css/styles.css"><img src="https://shop.other.test/media/catalog/product/cache/1/image/feather.jpg">`},
	{"PrestaShop picture", `<img src="https://shop.other.test/12-home_default/feather.jpg"><link rel="stylesheet" href="https://shop.other.test/themes/classic/assets/css/theme.css"><script src="https://shop.other.test/modules/ps_shoppingcart/ps_shoppingcart.js"></script>`},
	{"Joomla script of another site", `<script src="https://other.test/media/system/js/core.js"></script><script src="https://other.test/media/jui/js/jquery.min.js"></script><a href="https://other.test/index.php?option=com_content&view=article&id=7">article</a>`},
	{"TYPO3 pictures", `<img src="https://other.test/fileadmin/user_upload/raven.jpg"><img src="https://other.test/typo3temp/assets/images/raven.jpg"><link rel="stylesheet" href="https://other.test/typo3conf/ext/nest/Resources/Public/Css/x.css">`},
	{"Contao pictures", `<img src="https://other.test/assets/images/7/raven.jpg"><link rel="stylesheet" href="https://other.test/assets/contao/css/x.css"><div class="ce_text block"><p>Ravens.</p></div>`},
	{"Plone style sheet", `<link rel="stylesheet" href="https://other.test/++plone++static/plone-compiled.css"><img src="https://other.test/raven.jpg/@@images/image/large">`},
	{"SPIP pictures", `<img class="spip_logos" src="https://other.test/IMG/arton7.jpg"><a class="spip_out" href="https://other.test/spip.php?article7">article</a>`},
	{"SPIP text, pasted", `<p class="spip">Ravens.</p><h3 class="spip">Crows</h3><ul class="spip"><li>Jays</li></ul>`},
	{"Sitefinity script", `<script src="https://other.test/WebResource.axd?d=1"></script><script src="https://other.test/ScriptResource.axd?d=Telerik.Sitefinity"></script><div class="sfContentBlock"><p>Ravens.</p></div>`},
	{"LiveJournal user", `<span class="ljuser i-ljuser i-ljuser-type-P" lj:user="hugin"><a href="https://hugin.livejournal.com/profile"><img class="i-ljuser-userhead" src="https://l-stat.livejournal.net/img/userinfo.gif"></a><a href="https://hugin.livejournal.com/"><b>hugin</b></a></span>`},
	{"MediaWiki text, pasted", `<img src="https://upload.wikimedia.org/wikipedia/commons/thumb/a/a1/Raven.jpg/220px-Raven.jpg"><a class="mw-redirect" href="https://en.wikipedia.org/wiki/Raven" title="Raven">Raven</a><span class="mw-headline" id="Food">Food</span>`},
	{"phpBB style sheet of another site", `<link rel="stylesheet" href="https://forum.other.test/styles/prosilver/theme/stylesheet.css"><a href="https://forum.other.test/viewtopic.php?f=2&t=7">thread</a>`},
	{"SMF smileys", `<img src="https://forum.other.test/Smileys/default/smiley.gif"><a href="https://forum.other.test/index.php?topic=7.0">thread</a><script src="https://forum.other.test/Themes/default/scripts/script.js"></script>`},
	{"vBulletin pictures", `<img src="https://forum.other.test/images/smilies/smile.gif"><img src="https://forum.other.test/attachment.php?attachmentid=7"><a href="https://forum.other.test/showthread.php?t=7">thread</a><script src="https://forum.other.test/clientscript/vbulletin_global.js"></script>`},
	{"MyBB smileys", `<img src="https://forum.other.test/images/smilies/smile.png"><script src="https://forum.other.test/jscripts/general.js"></script><a href="https://forum.other.test/showthread.php?tid=7">thread</a>`},
	{"XenForo links", `<a class="username" data-user-id="7" href="https://forum.other.test/members/hugin.7/">hugin</a><div class="bbWrapper">Ravens.</div><script src="https://forum.other.test/js/xf/core-compiled.js"></script>`},
	{"Invision embed", `<iframe data-embedcontent="" src="https://forum.other.test/topic/7-ravens/?do=embed"></iframe><img src="https://forum.other.test/uploads/emoticons/smile.png"><div class="ipsQuote">Ravens.</div>`},
	{"NodeBB comments", `<div id="nodebb-comments"></div><script src="https://forum.other.test/plugins/nodebb-plugin-blog-comments/lib/general.js"></script><link rel="stylesheet" href="https://forum.other.test/assets/client.css">`},
	{"TypePad pictures", `<img src="https://hugin.typepad.com/.a/6a00d8341c-800wi"><a href="https://hugin.typepad.com/">a blog</a>`},
	{"Lobsters and Hacker News buttons", `<a class="u-url" href="https://lobste.rs/s/abc123/ravens">Lobsters</a><a href="https://news.ycombinator.com/item?id=7">Hacker News</a><img src="https://news.ycombinator.com/y18.gif"><img src="https://lobste.rs/apple-touch-icon.png">`},
	{"Lemmy post", `<a href="https://lemmy.other.test/post/7">Lemmy</a><img src="https://lemmy.other.test/pictrs/image/raven.webp">`},
	{"WriteFreely script", `<script src="https://write.as/js/embed.js"></script><a href="https://write.as/hugin/">Powered by WriteFreely</a>`},
	{"Confluence picture", `<img class="confluence-embedded-image" src="https://wiki.other.test/download/attachments/7/raven.png"><a class="confluence-link" href="https://wiki.other.test/display/X/Raven">page</a>`},
	{"DokuWiki picture", `<img class="mediacenter" src="https://wiki.other.test/lib/exe/fetch.php?media=raven.jpg"><a class="wikilink1" href="https://wiki.other.test/doku.php?id=raven">page</a>`},
	{"MoinMoin and TWiki pictures", `<img src="https://wiki.other.test/moin_static/modern/img/moin-www.png"><img src="https://wiki.other.test/pub/TWiki/TWikiDocGraphics/help.gif"><a class="twikiLink" href="https://wiki.other.test/bin/view/Main/Raven">page</a>`},
	{"PmWiki style sheet", `<link rel="stylesheet" href="https://wiki.other.test/pub/skins/pmwiki/pmwiki.css"><a class="wikilink" href="https://wiki.other.test/pmwiki.php?n=Main.Raven">page</a>`},
}

// TestEmbedded: an article on a host and of a software of its own, which shows something of an application, is not taken for a page of it.
func TestEmbedded(t *testing.T) {
	base, err := kb.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	h := New(base, DefaultLimits())
	for _, e := range embedded {
		body := `<!DOCTYPE html><html><head><title>Ravens in the valley</title></head><body><header><a href="/">The Valley News</a></header><main><h1>Ravens in the valley</h1><div class="story">` +
			"<p>Two pairs of ravens have nested in the old quarry since the spring, and people of the village count them each evening.</p>" + e.html +
			"<p>They do so from the churchyard wall, with a thermos flask and a notebook, and what they write down goes to the museum.</p></div></main><footer>The Valley News</footer></body></html>"
		if d := read(h, "http://valley-news.test/stories/ravens", body, Input{}); d.Application != "" && d.Application != "generic" {
			t.Errorf("%s: taken for %s by %s with confidence %.2f", e.name, d.Application, d.Rule, d.Confidence)
		}
	}
}
