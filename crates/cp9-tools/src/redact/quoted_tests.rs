//! What encoders of Bash, Python, JavaScript and Go made of one nasty text.

/// The text.
pub(super) const SPOKEN: &str = "p\"ä's/&w+<$x>`=\\!~é€";

/// `printf %q`, `${x@Q}`, `set -x`; Python's `repr`, `ascii`, `json`, `shlex`, `html`, `saxutils`, `urllib`;
/// JavaScript's `JSON`, `encodeURI`, `inspect`, `URLSearchParams`, `escape`; Go's `%q`, `%+q`, `json`, `html`,
/// `url`, `template`, `xml`, `%x`.
#[rustfmt::skip]
pub(super) const FOREIGN: &[&str] = &[
    r##"p\"ä\'s/\&w+\<\$x\>\`=\\\!~é€"##,
    r##"p"ä'\''s/&w+<$x>`=\!~é€"##,
    r##"p"\303\244\'s/&w+<$x>`=\\!~\303\251\342\202\254"##,
    r##"p&quot;ä&#x27;s/&amp;w+&lt;$x&gt;`=\!~é€"##,
    r##"p"ä\'s/&w+<$x>`=\\!~é€"##,
    r##"p"\xe4\'s/&w+<$x>`=\\!~\xe9\u20ac"##,
    r##"p"\xc3\xa4\'s/&w+<$x>`=\\!~\xc3\xa9\xe2\x82\xac"##,
    r##"p\"\u00e4's/&w+<$x>`=\\!~\u00e9\u20ac"##,
    r##"p\"ä's/&w+<$x>`=\\!~é€"##,
    r##"p"ä'"'"'s/&w+<$x>`=\!~é€"##,
    r##"p"ä's/&amp;w+&lt;$x&gt;`=\!~é€"##,
    r##"p&quot;ä's/&amp;w+&lt;$x&gt;`=\!~é€"##,
    r##"p"&#228;'s/&w+<$x>`=\!~&#233;&#8364;"##,
    r##"p&quot;&#228;&#x27;s/&amp;w+&lt;$x&gt;`=\!~&#233;&#8364;"##,
    r##"p%22%C3%A4%27s/%26w%2B%3C%24x%3E%60%3D%5C%21~%C3%A9%E2%82%AC"##,
    r##"p%22%C3%A4%27s%2F%26w%2B%3C%24x%3E%60%3D%5C%21~%C3%A9%E2%82%AC"##,
    r##"7022c3a427732f26772b3c24783e603d5c217ec3a9e282ac"##,
    r##"7022C3A427732F26772B3C24783E603D5C217EC3A9E282AC"##,
    r##"cCLDpCdzLyZ3KzwkeD5gPVwhfsOp4oKs"##,
    r##"p"\xe4's/&w+<$x>`=\\!~\xe9\u20ac"##,
    r##"p%22%C3%A4's%2F%26w%2B%3C%24x%3E%60%3D%5C!~%C3%A9%E2%82%AC"##,
    r##"p%22%C3%A4's/&w+%3C$x%3E%60=%5C!~%C3%A9%E2%82%AC"##,
    r##"p%22%C3%A4%27s%2F%26w%2B%3C%24x%3E%60%3D%5C%21%7E%C3%A9%E2%82%AC"##,
    r##"p%22%E4%27s/%26w+%3C%24x%3E%60%3D%5C%21%7E%E9%u20AC"##,
    r##"p\"ä's/\u0026w+\u003c$x\u003e`=\\!~é€"##,
    r##"p&#34;ä&#39;s/&amp;w+&lt;$x&gt;`=\!~é€"##,
    r##"p%22%C3%A4%27s%2F&w+%3C$x%3E%60=%5C%21~%C3%A9%E2%82%AC"##,
    r##"p\"ä\'s/\u0026w+\u003C$x\u003E`\u003D\\!~é€"##,
];
