/**
 * Addresses and lists with verdicts: what we make of each, by which standard and why, and where nodemailer's parser,
 * which guesses rather than refuses, makes something else of it.
 */
export interface JudgedAddress {
  readonly text: string;
  /** How it is written once it was taken, or the code it is refused with. */
  readonly ours: string;
  /** RFC and section. */
  readonly rule: string;
  readonly why: string;
  /** Why nodemailer reads it otherwise, and how; null when it does not. */
  readonly theirs: { readonly difference: Difference; readonly reading: string } | null;
}

/** The ways in which nodemailer reads differently; `docs/decisions/0004-address-disagreements.md` judges each. */
export const DIFFERENCES = {
  unjudged:
    'It checks neither the characters of a local part or a domain nor their length. We are right (RFC 5321 §4.1.2): the next hop would refuse it, or read another address.',
  guess:
    'It makes an address of a text that has none, or more than one. We are right (RFC 5322 §3.4): mail would go to someone whom nobody named, or not to all.',
  group:
    'It opens groups, reads semicolons as commas and drops source routes. It is right about groups (RFC 5322 §3.4), which we refuse all the same: their names would be lost.',
  comment:
    'It reads comments as names, or drops them. It is right by the letter (RFC 5322 §3.2.2); people who write parentheses mean the name, and no comment reaches an envelope.',
  control:
    'It drops control characters, or reads them as blanks. We are right (RFC 5321 §4.1.2): what looks like an attack must not be repaired.',
  unquoted:
    'It drops the quotes that a local part needs. We are right (RFC 5321 §4.1.2): without them it is not an address.',
  form: 'It leaves an address as it was written; we give each its one form. Both are right (RFC 5321 §2.4, RFC 5890 §2.3).',
  name: 'It drops a name that equals the address. Both are right; we show what was given.',
} as const;

/** A way of reading otherwise. */
export type Difference = keyof typeof DIFFERENCES;

/** Text, verdict (`=` is the text itself), rule, why, and `difference: reading`. Escapes are those of JSON. */
const TABLE = String.raw`
a@example.org | = | 5321 §4.1.2 | the plainest mailbox
jane.doe@example.org | = | 5321 §4.1.2 | a dot-string
jane+news@example.org | = | 5322 §3.2.3 | "+" is an atom character
o'brien@example.org | = | 5322 §3.2.3 | so is the apostrophe
!#$%&'*+-/=?^_\u0060{|}~@example.org | = | 5322 §3.2.3 | every special atom character
0@example.org | = | 5321 §4.1.2 | a digit alone
-@example.org | = | 5322 §3.2.3 | a hyphen alone
_@example.org | = | 5322 §3.2.3 | an underscore alone
a@b.c | = | 5321 §4.1.2 | one-letter labels
a@localhost | = | 5321 §2.3.5 | a name without dot: for local relays; DNS decides
a@xn--bcher-kva.example | = | 5890 §2.3.2.1 | an A-label
a@EXAMPLE.org | a@example.org | 5321 §2.4 | domains are without case | form: =
Jane@example.org | = | 5321 §2.4 | local parts keep their case
a@1.example.org | = | 1123 §2.1 | a label of digits
a@3com.example | = | 1123 §2.1 | a label that begins with a digit
a@a-b.example | = | 1035 §2.3.1 | a hyphen inside a label
a@a--b.example | = | 1035 §2.3.1 | two of them
aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa@example.org | = | 5321 §4.5.3.1.1 | 64 octets of local part
aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa@example.org | address_too_long | 5321 §4.5.3.1.1 | 65 are too many | unjudged: =
ääääääääääääääääääääääääääääääää@example.org | = | 6531 §3.4 | 64 octets of UTF-8
äääääääääääääääääääääääääääääääää@example.org | address_too_long | 6531 §3.4 | octets count, not characters | unjudged: =
a@bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb.example | = | 1035 §2.3.4 | 63 octets of label
a@bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb.example | address_domain | 1035 §2.3.4 | 64 are too many | unjudged: =
aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa@bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb.bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb.bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb.cc | = | 5321 §4.5.3.1.3 | 254 octets: 256 with the angle brackets
aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa@bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb.bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb.bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb.cc | address_too_long | 5321 §4.5.3.1.3 | 255 are too many | unjudged: =
.a@example.org | address_local_part | 5322 §3.2.3 | a dot at the beginning | unjudged: =
a.@example.org | address_local_part | 5322 §3.2.3 | a dot at the end (some Japanese carriers once gave such) | unjudged: =
a..b@example.org | address_local_part | 5322 §3.2.3 | two dots | unjudged: =
.@example.org | address_local_part | 5322 §3.2.3 | a dot alone | unjudged: =
a@.example.org | address_domain | 5321 §4.1.2 | a dot at the beginning of the domain | unjudged: =
a@example.org. | address_domain | 5321 §2.3.5 | a dot at its end: the root is not written in mail | unjudged: =
a@example..org | address_domain | 5321 §4.1.2 | an empty label | unjudged: =
a@. | address_domain | 5321 §4.1.2 | nothing but a dot | unjudged: =
 | address_missing | 5322 §3.4 | nothing
\u0020 | address_missing | 5322 §3.4 | a blank
a | address_syntax | 5321 §4.1.2 | no domain; names of local users are not guessed
@ | address_syntax | 5321 §4.1.2 | no local part and no domain | unjudged: =
a@ | address_domain | 5321 §4.1.2 | no domain | unjudged: =
@example.org | address_syntax | 5321 §4.1.2 | no local part | unjudged: =
example.org | address_syntax | 5321 §4.1.2 | a domain alone
postmaster | address_syntax | 5321 §4.1.1.3 | only RCPT may name it so
<> | address_syntax | 5321 §4.5.5 | the null path is no mailbox
""@example.org | address_local_part | 5321 §4.1.2 | an empty quoted string: allowed by the grammar, taken by nobody | unjudged: =
a@b@example.org | address_local_part | 5322 §3.4.1 | two at signs | unjudged: =
a@@example.org | address_local_part | 5322 §3.4.1 | two in a row | unjudged: =
"a@b"@example.org | address_local_part | 5321 §4.1.2 | legal; refused by contract §2, because programs disagree on its domain | unjudged: =
a@b.org@c.org@example.org | address_local_part | 5321 appendix C | three | unjudged: =
@a.org:b@example.org | address_group | 5321 appendix C | a source route | group: @a.org: b@example.org;
<@a.org:b@example.org> | address_local_part | 5321 appendix C | a source route in brackets: must be accepted once, now SHOULD NOT be sent | group: b@example.org
a%b.org@example.org | = | 5321 §3.6.1 | a percent sign means nothing to us
a!b@example.org | = | 5321 §3.6.1 | nor does a bang path
"a"@example.org | a@example.org | 5321 §4.1.2 | quotes that are not needed are dropped
"a.b"@example.org | a.b@example.org | 5321 §4.1.2 | the same with a dot
"a..b"@example.org | = | 5321 §4.1.2 | what only a quoted string can say | unquoted: a..b@example.org
".a"@example.org | = | 5321 §4.1.2 | a dot at the beginning, quoted | unquoted: .a@example.org
"a,b"@example.org | = | 5321 §4.1.2 | a comma, quoted
"a;b"@example.org | = | 5321 §4.1.2 | a semicolon, quoted
"a:b"@example.org | = | 5321 §4.1.2 | a colon, quoted
"a(b)"@example.org | = | 5321 §4.1.2 | parentheses, quoted
"a[b]"@example.org | = | 5321 §4.1.2 | square brackets, quoted
"a\\\\b"@example.org | = | 5321 §4.1.2 | a backslash, escaped
"a\\"b"@example.org | = | 5321 §4.1.2 | a quotation mark, escaped
"\\a"@example.org | a@example.org | 5321 §4.1.2 | an escape that is not needed
"a b"@example.org | address_local_part | 5321 §4.1.2 | legal; refused by contract §2 | unjudged: =
" "@example.org | address_local_part | 5321 §4.1.2 | a blank alone, quoted | guess: ""@example.org
"a\tb"@example.org | address_local_part | 5321 §4.1.2 | a tab is not even legal there | unjudged: =
"a<b"@example.org | address_local_part | 5321 §4.1.2 | legal; refused by contract §2: it would break the path | unjudged: =
"a>b"@example.org | address_local_part | 5321 §4.1.2 | the same | unjudged: =
"a@example.org | address_quotes | 5322 §3.2.4 | a quotation mark that is not closed | guess: a@example.org
a"@example.org | address_quotes | 5322 §3.2.4 | one that is not opened | guess: a@example.org
"a\\"@example.org | address_quotes | 5322 §3.2.4 | one whose end is escaped | guess: "a\\""@example.org
a"b"c@example.org | address_local_part | 5322 §3.4.1 | quotes inside an atom | guess: "a bc"@example.org
"a"b@example.org | address_syntax | 5322 §3.4.1 | text behind a quoted string | guess: ab@example.org
"a"."b"@example.org | address_syntax | 5322 §4.4 | words and dots: obsolete | guess: "a." <b@example.org>
a."b"@example.org | address_local_part | 5322 §4.4 | obsolete as well | guess: "a." <b@example.org>
\u0020a@example.org\u0020 | a@example.org | 5322 §3.4 | blanks around
\ta@example.org | a@example.org | 5322 §3.4 | a tab in front
a @example.org | address_local_part | 5322 §4.4 | a blank before the at sign: obsolete | guess: a@example.org
a@ example.org | address_domain | 5322 §4.4 | a blank behind it: obsolete | guess: a@example.org
a b@example.org | address_local_part | 5322 §3.4.1 | a blank in the local part | guess: a <b@example.org>
a@exam ple.org | address_domain | 5322 §3.4.1 | a blank in the domain | guess: "ple.org" <a@exam>
a@example.org b | address_domain | 5322 §3.4.1 | a word behind it | guess: b <a@example.org>
a(comment)@example.org | address_local_part | 5322 §3.2.2 | comments are legal there; we take none, since none reach the envelope | comment: comment <a@example.org>
a@example.org (Jane) | address_domain | 5322 §3.2.2 | a comment as a name, of the last century | comment: Jane <a@example.org>
(comment)a@example.org | address_local_part | 5322 §3.2.2 | a comment in front | comment: comment <a@example.org>
a@(comment)example.org | address_domain | 5322 §3.2.2 | a comment in the domain | comment: comment <a@example.org>
a\r\n@example.org | address_control | 5322 §2.2 | a line break | control: a@example.org
a@example.org\r\nBcc: b@example.org | address_control | 5322 §2.2 | an injected header | control: a@example.org Bcc: b@example.org;
a@example.org\nRCPT TO:<b@example.org> | address_control | 5321 §2.3.8 | an injected command | control: a@example.org RCPT TO: b@example.org;
a\r@example.org | address_control | 5321 §2.3.8 | a bare CR | control: a@example.org
a\u0000@example.org | address_control | 5321 §4.1.2 | NUL | control: a@example.org
a\u007f@example.org | address_control | 5321 §4.1.2 | DEL | control: =
a\u0085@example.org | address_control | 6532 §3.2 | a C1 control: a line break to some | control: =
"a\\\n"@example.org | address_control | 5322 §3.2.1 | an escaped line break: obsolete | control: a@example.org
a\ud800@example.org | address_control | 3629 §3 | half a surrogate pair | control: =
a,b@example.org | address_syntax | 5322 §3.2.3 | a comma separates | guess: (no address), b@example.org
a;b@example.org | address_group | 5322 §3.2.3 | a semicolon ends a group | group: (no address), b@example.org
a:b@example.org | address_group | 5322 §3.2.3 | a colon begins one | group: a: b@example.org;
a\\b@example.org | address_local_part | 5322 §3.2.3 | a backslash | unjudged: =
a[b@example.org | address_local_part | 5322 §3.2.3 | a bracket | unjudged: =
a)b@example.org | address_local_part | 5322 §3.2.3 | a parenthesis | unjudged: =
a<b@example.org | address_syntax | 5322 §3.2.3 | an angle bracket | guess: a <b@example.org>
a>b@example.org | address_syntax | 5322 §3.2.3 | the other | unjudged: =
a@-example.org | address_domain | 1035 §2.3.1 | a hyphen at the beginning of a label | unjudged: =
a@example-.org | address_domain | 1035 §2.3.1 | at its end | unjudged: =
a@exa_mple.org | address_domain | 5321 §4.1.2 | an underscore is no character of a host | unjudged: =
a@example.123 | address_domain | 3696 §2 | a top-level domain is not all digits | unjudged: =
a@192.0.2.1 | address_domain | 5321 §4.1.3 | a bare IP address | unjudged: =
a@[192.0.2.1] | = | 5321 §4.1.3 | an IPv4 literal
a@[192.0.2.256] | address_domain | 5321 §4.1.3 | an octet too large | unjudged: =
a@[192.0.2] | address_domain | 5321 §4.1.3 | an octet too few | unjudged: =
a@[192.000.002.001] | a@[192.0.2.1] | 5321 §4.1.3 | leading zeros are legal, and decimal | form: =
a@[IPv6:2001:db8::1] | = | 5321 §4.1.3 | an IPv6 literal
a@[ipv6:2001:DB8:0::1] | a@[IPv6:2001:db8::1] | 5321 §4.1.3 | one form for each | form: =
a@[IPv6:::ffff:192.0.2.1] | a@[IPv6:::ffff:c000:201] | 5321 §4.1.3 | IPv4 inside IPv6 | form: =
a@[IPv6:2001:db8::1::2] | address_domain | 5321 §4.1.3 | two gaps | unjudged: =
a@[IPv6:12345::] | address_domain | 5321 §4.1.3 | a group too large | unjudged: =
a@[IPv6:fe80::1%eth0] | address_domain | 5321 §4.1.3 | a zone is of one machine | unjudged: =
a@[2001:db8::1] | address_domain | 5321 §4.1.3 | IPv6 without its tag | unjudged: =
a@2001:db8::1 | address_group | 5321 §4.1.3 | without brackets | group: a@2001: (no address);
a@[x-tag:abc] | address_domain | 5321 §4.1.3 | no other tag is registered | unjudged: =
a@[192.0.2.1 | address_domain | 5321 §4.1.3 | a bracket that is not closed | unjudged: =
a@192.0.2.1] | address_domain | 5321 §4.1.3 | one that is not opened | unjudged: =
a@[] | address_domain | 5321 §4.1.3 | an empty literal | unjudged: =
a@[example.org] | address_domain | 5321 §4.1.3 | a name in brackets | unjudged: =
a@example.org/path | address_domain | 5321 §4.1.2 | part of a URL | unjudged: =
a@example.org:25 | address_group | 5321 §4.1.2 | a port | group: a@example.org: (no address);
mailto:a@example.org | address_group | 6068 §2 | a URL is no mailbox | group: mailto: a@example.org;
a@example.org?subject=x | address_domain | 6068 §2 | nor the rest of one | unjudged: =
a@*.example.org | address_domain | 5321 §4.1.2 | a wildcard | unjudged: =
a@exa%6dple.org | address_domain | 5321 §4.1.2 | a percent escape | unjudged: =
jürgen@example.org | = | 6531 §3.3 | UTF-8 in the local part
用户@example.org | = | 6531 §3.3 | Chinese
δοκιμή@example.org | = | 6531 §3.3 | Greek
उदाहरण@example.org | = | 6531 §3.3 | Devanagari, with its marks
👩\u200d🚀@example.org | = | 6531 §3.3 | an emoji with a joiner
u\u0308@example.org | = | 6531 §3.3 | in the characters that were given; NFC only tells duplicates apart
a@bücher.example | a@xn--bcher-kva.example | 5890 §2.3.2.1 | a U-label becomes an A-label | form: =
a@BÜCHER.example | a@xn--bcher-kva.example | 5895 §2 | in any case | form: =
a@例え.テスト | a@xn--r8jz45g.xn--zckzah | 5890 §2.3.2.1 | Japanese | form: =
a@faß.example | a@xn--fa-hia.example | 5891 §4 | ß is a letter of its own since IDNA 2008 | form: =
a@例え。テスト | a@xn--r8jz45g.xn--zckzah | 5895 §2 | the ideographic full stop separates labels | form: =
a@ｅｘａｍｐｌｅ.org | a@example.org | 5895 §2 | full-width letters are letters | form: =
a@exam\u00adple.org | a@example.org | 5895 §2 | a soft hyphen is nothing | form: =
a@xn--a.example | = | 5890 §2.3.2.1 | an A-label that decodes to nothing; the DNS will not know it
a@\u200b.example | address_domain | 5892 §2 | a label of nothing | unjudged: =
a\u202eb@example.org | address_local_part | 6532 §3.1 | an override of direction: legal, and made to deceive | unjudged: =
a\u00a0b@example.org | address_local_part | 6532 §3.1 | a no-break space reads as a blank | guess: a <b@example.org>
a\u2028b@example.org | address_local_part | 6532 §3.1 | a line separator | guess: a <b@example.org>
a@exa\u2044mple.org | a@xn--example-3d7c.org | 5892 §2 | a fraction slash: disallowed, but UTS 46 maps it as browsers do; no registry sells it | form: =
ａ＠example.org | address_syntax | 5321 §4.1.2 | a full-width at sign is none
a\u037eb@example.org | address_local_part | 6532 §3.1 | a Greek question mark is a semicolon in NFC | unjudged: =
Jane Doe <j@example.org> | = | 5322 §3.4 | a name and an address
"Jane Doe" <j@example.org> | Jane Doe <j@example.org> | 5322 §3.4 | quotes that are not needed
"Doe, Jane" <j@example.org> | = | 5322 §3.4 | quotes that are
Doe, Jane <j@example.org> | address_unquoted_comma | 5322 §3.4 | and were forgotten | guess: "Doe, Jane" <j@example.org>
Doe, Jane, Dr. <j@example.org> | address_unquoted_comma | 5322 §3.4 | twice | guess: "Doe, Jane, Dr." <j@example.org>
John Q. Public <j@example.org> | "John Q. Public" <j@example.org> | 5322 §4.1 | a dot in a name: obsolete, and everywhere
Jane O'Neil <j@example.org> | = | 5322 §3.2.3 | an apostrophe
Jörg <j@example.org> | = | 6532 §3.2 | UTF-8 in a name
Jane (Sales) <j@example.org> | "Jane (Sales)" <j@example.org> | 5322 §3.2.2 | by the letter a comment; people mean the name | comment: Jane <j@example.org>
Jane @ Work <j@example.org> | "Jane @ Work" <j@example.org> | 5322 §3.4 | an at sign in a name: by the letter an error
j@example.org <j@example.org> | "j@example.org" <j@example.org> | 5322 §3.4 | the address as the name, as many programs write it | name: j@example.org
[Team] Jane <j@example.org> | "[Team] Jane" <j@example.org> | 5322 §3.4 | brackets in a name
Jane: Sales <j@example.org> | address_group | 5322 §3.4 | a colon begins a group; the refusal shows the quotes | group: Jane: Sales <j@example.org>;
Jane; Sales <j@example.org> | address_group | 5322 §3.4 | the same with a semicolon | group: "Jane, Sales" <j@example.org>
Jane <j@example.org | address_syntax | 5322 §3.4 | a bracket that is not closed | guess: Jane <j@example.org>
Jane j@example.org> | address_syntax | 5322 §3.4 | one that is not opened | guess: "Jane >" <j@example.org>
Jane <<j@example.org>> | address_syntax | 5322 §3.4 | two of them | guess: "Jane>" <j@example.org>
Jane <j@example.org> Doe | address_syntax | 5322 §3.4 | a name behind the address | guess: Jane Doe <j@example.org>
Jane <j@example.org> <k@example.org> | address_syntax | 5322 §3.4 | two addresses | guess: "Jane k@example.org" <j@example.org>
Jane <> | address_syntax | 5322 §3.4 | a name and nothing
<j@example.org> | j@example.org | 5322 §3.4 | brackets without a name
< j@example.org > | j@example.org | 5322 §3.4 | blanks in them
"" <j@example.org> | j@example.org | 5322 §3.4 | an empty name
Jane<j@example.org> | Jane <j@example.org> | 5322 §3.4 | no blank between
"<evil@example.net>" <j@example.org> | = | 5322 §3.2.4 | an address in quotes is a name
"a@example.net" <j@example.org> | = | 5322 §3.2.4 | the same without brackets
=?utf-8?q?J=C3=B6rg?= <j@example.org> | = | 2047 §5 | fields are not encoded; it stays what it is
Jane <"a,b"@example.org> | = | 5322 §3.4 | a quoted local part in brackets
a@example.org, b@example.org | = | 5322 §3.4 | two mailboxes
a@example.org,b@example.org | a@example.org, b@example.org | 5322 §3.4 | without a blank
Jane <a@example.org>, "Doe, J" <b@example.org> | = | 5322 §3.4 | with names
a@example.org, | address_missing | 5322 §4.4 | a comma at the end: obsolete; an address may have been lost | guess: a@example.org
,a@example.org | address_missing | 5322 §4.4 | at the beginning | guess: a@example.org
a@example.org,,b@example.org | address_missing | 5322 §4.4 | two of them | guess: a@example.org, b@example.org
a@example.org; b@example.org | address_group | 5322 §3.4 | semicolons, as in Outlook | group: a@example.org, b@example.org
a@example.org b@example.org | address_local_part | 5322 §3.4 | blanks do not separate | guess: "b@example.org" <a@example.org>
Friends: a@example.org, b@example.org; | address_group | 5322 §3.4 | a group: legal; its name would be lost | group: =
undisclosed-recipients:; | address_group | 5322 §3.4 | an empty group reaches nobody | group: undisclosed-recipients: ;
a@example.org, bad | address_syntax | 5322 §3.4 | one faulty entry refuses the list | guess: a@example.org, (no address)
a@example.org <b@example.org>, c@example.org | "a@example.org" <b@example.org>, c@example.org | 5322 §3.4 | the name is only a name
`;

/** Every judged address. */
export const JUDGED: readonly JudgedAddress[] = TABLE.trim().split('\n').map(readRow);

function readRow(row: string): JudgedAddress {
  const [written = '', verdict = '', rule = '', why = '', other] = row.split(' | ');
  const text = unescapeCell(written);
  const orText = (cell: string) => (cell === '=' ? text : unescapeCell(cell));
  const [difference = '', ...reading] = other?.split(': ') ?? [];
  const theirs = isDifference(difference) ? { difference, reading: orText(reading.join(': ')) } : null;
  return { text, ours: orText(verdict), rule: `RFC ${rule}`, why, theirs };
}

function isDifference(text: string): text is Difference {
  return Object.hasOwn(DIFFERENCES, text);
}

function unescapeCell(cell: string): string {
  return String(JSON.parse(`"${cell.replaceAll('"', '\\"')}"`));
}
