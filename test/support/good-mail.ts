/**
 * Mail as good senders write it, in the structures of public templates: nothing in it is an error or a warning of
 * preflight. Each one is close to something that is.
 */

/** A message, in the form of nodemailer's options. */
export interface GoodMail {
  readonly from: string;
  readonly subject: string;
  readonly text: string;
  readonly html?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly attachments?: readonly {
    readonly filename: string;
    readonly content: string;
    readonly contentType?: string;
    readonly cid?: string;
  }[];
}

const LEAVE = {
  'List-Unsubscribe': '<https://news.example.com/u/3f9a1c>, <mailto:leave@example.com>',
  'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
};

/** The head of transactional templates: a style sheet for those who read it, a table for all. */
function transactional(body: string, preheader: string): string {
  return `<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-transitional.dtd">
<html xmlns="http://www.w3.org/1999/xhtml">
<head>
  <meta http-equiv="Content-Type" content="text/html; charset=UTF-8" />
  <meta name="viewport" content="width=device-width, initial-scale=1.0" />
  <meta name="color-scheme" content="light dark" />
  <title>{{ not shown }}</title>
  <style type="text/css" rel="stylesheet" media="all">
    body { width: 100% !important; height: 100%; margin: 0; -webkit-text-size-adjust: none; }
    a { color: #3869D4; }
    a img { border: none; }
    .preheader { display: none !important; visibility: hidden; mso-hide: all; font-size: 1px; }
    .button { background-color: #3869D4; border-top: 10px solid #3869D4; color: #FFF; border-radius: 3px; }
    @media only screen and (max-width: 600px) {
      .email-body_inner, .email-footer { width: 100% !important; }
    }
    @media (prefers-color-scheme: dark) {
      body, .email-body { background-color: #333333 !important; color: #FFF !important; }
    }
  </style>
  <!--[if mso]><style type="text/css">.f-fallback { font-family: Arial, sans-serif; }</style><![endif]-->
</head>
<body>
  <span class="preheader">${preheader}&zwnj;&nbsp;&zwnj;&nbsp;</span>
  <table class="email-wrapper" width="100%" cellpadding="0" cellspacing="0" role="presentation">
    <tr><td align="center">
      <table class="email-content" width="100%" cellpadding="0" cellspacing="0" role="presentation">
        <tr><td class="email-masthead"><a href="https://www.example.com" class="f-fallback">Example Shop</a></td></tr>
        <tr><td class="email-body" width="570" cellpadding="0" cellspacing="0">
          <table class="email-body_inner" align="center" width="570" cellpadding="0" cellspacing="0" role="presentation">
            <tr><td class="content-cell"><div class="f-fallback">${body}</div></td></tr>
          </table>
        </td></tr>
      </table>
    </td></tr>
  </table>
</body>
</html>`;
}

const RESET = 'https://app.example.com/password/reset/0b7f3c9e1d5a48e2b6f0?from=mail';

/** By what they are. */
export const GOOD_MAIL: Readonly<Record<string, GoodMail>> = {
  'a password reset': {
    from: '"Example" <no-reply@example.com>',
    subject: 'Reset your password',
    text: `Hi Ada,\n\nReset your password here. The link is valid for 24 hours:\n\n${RESET}\n\nIf you did not ask for it, ignore this message.\n`,
    html: transactional(
      `<h1>Hi Ada,</h1><p>Reset your password with the button below. <strong>It is valid for 24 hours.</strong></p>
<table class="body-action" align="center" width="100%" role="presentation"><tr><td align="center">
<a href="${RESET}" class="button" target="_blank">Reset your password</a></td></tr></table>
<p>If you did not ask for it, ignore this message.</p>
<p class="sub">If the button does not work, copy this address into your browser:</p><p class="sub">${RESET}</p>`,
      'Use this link to reset your password. It is valid for 24 hours.',
    ),
  },
  'a receipt': {
    from: 'Example Shop <billing@mail.example.com>',
    subject: 'Your receipt from Example Shop [#1318-4402]',
    text: 'Thanks, Ada.\n\nPro plan (2 seats)  $58.00\nDiscount           -$5.80\nTax (19%)           $9.92\nTotal              $62.12\n\nInvoice: https://pay.example.com/i/1318-4402\n',
    html: transactional(
      `<h1>Thanks, Ada.</h1><table width="100%" role="presentation">
<tr><td>Pro plan (2 seats)</td><td align="right">$58<sup>00</sup></td></tr>
<tr><td>Discount</td><td align="right">&minus;$5.80</td></tr>
<tr><td>Tax (19%)</td><td align="right">$9.92</td></tr>
<tr><td><b>Total</b></td><td align="right"><b>$62.12</b></td></tr></table>
<p><a href="https://pay.example.com/i/1318-4402">Download the invoice</a></p>`,
      'This is a receipt for your purchase: $62.12.',
    ),
    attachments: [{ filename: 'invoice-1318-4402.pdf', content: '%PDF-1.7', contentType: 'application/pdf' }],
  },
  'a German invoice': {
    from: 'Müller & Söhne <rechnung@example.de>',
    subject: 'Ihre Rechnung Nr. 2026-1107 über 1.299,00 €',
    text: 'Guten Tag Herr Öztürk,\n\nanbei Ihre Rechnung über 1.299,00 EUR (netto 1.091,60 EUR, USt. 207,40 EUR), zahlbar bis 12.12.2026.\n',
    html: '<p>Guten Tag Herr Öztürk,</p><p>anbei Ihre Rechnung über <b>1.299,00&nbsp;€</b> (netto 1.091,60&nbsp;€, USt. 207,40&nbsp;€), zahlbar bis 12.12.2026.</p>',
    attachments: [{ filename: 'Rechnung 2026-1107.pdf', content: '%PDF', contentType: 'application/pdf' }],
  },
  'a newsletter as MJML makes it': {
    from: 'Example News <news@news.example.com>',
    subject: 'What we learned in October, and a map',
    headers: { ...LEAVE, 'List-Id': 'Example News <news.example.com>', Precedence: 'bulk' },
    text: 'What we learned in October\n\nRead on: https://news.example.com/october?c=9f8e7d6c5b4a39281706\nThe map: https://maps.example.com/october\n\nUnsubscribe: https://news.example.com/u/3f9a1c\n',
    html: `<!doctype html><html xmlns="http://www.w3.org/1999/xhtml" xmlns:v="urn:schemas-microsoft-com:vml"><head>
<!--[if !mso]><!--><meta http-equiv="X-UA-Compatible" content="IE=edge"><!--<![endif]-->
<style type="text/css">#outlook a { padding:0; } body { margin:0;padding:0; } table, td { border-collapse:collapse; } img { border:0;height:auto;line-height:100%; }</style>
<!--[if mso]><noscript><xml><o:OfficeDocumentSettings><o:PixelsPerInch>96</o:PixelsPerInch></o:OfficeDocumentSettings></xml></noscript><![endif]-->
<style type="text/css">@media only screen and (min-width:480px) { .mj-column-per-50 { width:50% !important; max-width: 50%; } }</style>
</head><body style="word-spacing:normal;background-color:#F4F4F4;"><div style="background-color:#F4F4F4;">
<!--[if mso | IE]><table align="center" border="0" style="width:600px;" width="600"><tr><td><![endif]-->
<div style="margin:0px auto;max-width:600px;"><table align="center" border="0" cellpadding="0" cellspacing="0" role="presentation" style="width:100%;"><tbody><tr><td style="direction:ltr;font-size:0px;padding:20px 0;text-align:center;">
<div class="mj-column-per-50 mj-outlook-group-fix" style="font-size:0px;text-align:left;display:inline-block;vertical-align:top;width:100%;">
<img alt="A map of October" height="auto" src="https://cdn.example.com/october.png" style="border:0;display:block;width:100%;font-size:13px;" width="600">
<div style="font-family:Arial;font-size:16px;line-height:1.5;">In October we learned that people read three letters out of five, that most of them do so on a phone, and that maps are liked by all.</div>
<p><a href="https://news.example.com/october?c=9f8e7d6c5b4a39281706" style="background:#414141;color:#fff;">Read on</a> · <a href="https://maps.example.com/october">The map</a></p>
<p style="font-size:11px">You get this because you subscribed. <a href="https://news.example.com/u/3f9a1c">Unsubscribe</a></p>
</div></td></tr></tbody></table></div><!--[if mso | IE]></td></tr></table><![endif]-->
<img src="https://news.example.com/o/9f8e7d.gif" width="1" height="1"></div></body></html>`,
  },
  'a campaign with a button for Outlook': {
    from: 'Example Outdoor <hello@outdoor.example.com>',
    subject: 'New in store: the autumn jackets',
    headers: LEAVE,
    text: 'The autumn jackets are here, from $129.\n\nhttps://outdoor.example.com/jackets\n\nLeave: https://news.example.com/u/3f9a1c\n',
    html: `<center role="article" style="width:100%;background-color:#222222;">
<div style="max-height:0;overflow:hidden;mso-hide:all;" aria-hidden="true">The autumn jackets are here.</div>
<div style="max-width:680px;margin:0 auto;"><!--[if mso]><table align="center" width="680"><tr><td><![endif]-->
<table align="center" role="presentation" cellspacing="0" cellpadding="0" border="0" width="100%">
<tr><td style="background-color:#ffffff;"><img src="https://cdn.example.com/jackets@2x.jpg" width="680" height="" alt="Two people in jackets on a hill" border="0" style="width:100%;max-width:680px;height:auto;"></td></tr>
<tr><td style="padding:20px;font-family:sans-serif;"><h1>The autumn jackets are here</h1><p>Warm, dry and light, from $129. They are made of old bottles, and you can send them back for repair as long as they last.</p>
<!--[if mso]><v:roundrect href="https://outdoor.example.com/jackets" style="height:40px;v-text-anchor:middle;width:150px;"><center>See them</center></v:roundrect><![endif]-->
<!--[if !mso]><!--><a href="https://outdoor.example.com/jackets" style="background:#222;color:#fff;">See them</a><!--<![endif]--></td></tr>
<tr><td background="https://cdn.example.com/bg.png" style="background-image:url('https://cdn.example.com/bg.png');"><a href="https://news.example.com/u/3f9a1c">Leave</a></td></tr>
</table></div></center>`,
  },
  'a shipping note': {
    from: 'Example Shop <orders@example.com>',
    subject: 'Order #1001 has shipped',
    text: 'Your order #1001 is with DHL: https://www.dhl.de/track?id=00340434161094042557\nYour orders: https://example.com/orders\n',
    html: transactional(
      `<p>Your order <b>#1001</b> is on its way. <a href="https://www.dhl.de/track?id=00340434161094042557">Track it with DHL</a>
or see <a href="https://example.com/orders">your orders</a>.</p>`,
      'Your order is on its way.',
    ),
  },
  'a one-time code': {
    from: 'Example <login@example.com>',
    subject: '482913 is your code',
    text: 'Your code is 482913. It expires in 10 minutes.\n',
    html: `<img src="https://cdn.example.com/logo.png" width="120" height="40" alt="Example"><p>Your code:</p><p style="font-size:32px;letter-spacing:6px">482913</p><p>It expires in 10 minutes.</p>`,
  },
  'a security alert': {
    from: 'Example Accounts <accounts-noreply@example.com>',
    subject: 'New sign-in on Linux',
    text: 'A new sign-in: Firefox on Linux, 203.0.113.7, 28 November 2026, 01:24 UTC.\nWas it not you? https://accounts.example.com/security/3e2d1c0b9a8f7e6d5c4b\n',
    html: `<table width="100%" style="min-width:348px"><tr><td><div style="border:1px solid #dadce0;border-radius:8px;padding:40px 20px"><p>A new sign-in: Firefox on Linux, 203.0.113.7, 28 November 2026, 01:24 UTC.</p>
<a href="https://accounts.example.com/security/3e2d1c0b9a8f7e6d5c4b">Check activity</a><p>You can also see it at <a href="https://accounts.example.com/notifications">https://accounts.example.com/notifications</a></p></div></td></tr></table>`,
  },
  'an invitation': {
    from: 'Grace <grace@example.org>',
    subject: 'Invitation: review @ Fri 27 Nov 2026, 10:00',
    text: 'Review, Friday, 27 November 2026, 10:00 to 11:00 UTC. Join: https://meet.example.org/abc-defg-hij\n',
    html: '<p><b>Review</b></p><p>Friday, 27 November 2026, 10:00 to 11:00 UTC</p><p><a href="https://meet.example.org/abc-defg-hij">Join</a></p>',
    attachments: [
      {
        filename: 'invite.ics',
        content: 'BEGIN:VCALENDAR\r\nEND:VCALENDAR\r\n',
        contentType: 'text/calendar',
      },
    ],
  },
  'a notification of a forge': {
    from: '"Ada (code)" <notifications@code.example.com>',
    subject: 'Re: [tools/build] build fails where NODE_ENV is undefined (Issue #42)',
    headers: {
      ...LEAVE,
      'List-ID': 'tools/build <build.tools.code.example.com>',
      'Reply-To': 'reply+AB12@reply.code.example.com',
      Precedence: 'list',
    },
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a shell's
    text: 'Ada left a comment (tools/build#42)\n\n`process.env.NODE_ENV` is undefined there. See README.md, and ${NODE_ENV:-test} in the shell.\n\nhttps://code.example.com/tools/build/issues/42#issuecomment-1234567890\n',
    html: `<p><b>Ada</b> left a comment (<a href="https://code.example.com/tools/build/issues/42#issuecomment-1234567890">tools/build#42</a>)</p>
<p><code>process.env.NODE_ENV</code> is undefined there. See <a href="https://code.example.com/tools/build/blob/main/README.md">README.md</a>.</p>
<pre><code>{{ process.env.NODE_ENV }} = undefined</code></pre>
<img src="https://code.example.com/notifications/beacon/AB12.gif" height="1" width="1" alt="" />
<script type="application/ld+json">[{"@context":"http://schema.org","@type":"EmailMessage"}]</script>`,
  },
  'a digest of a list, as text': {
    from: 'users-request@lists.example.org',
    subject: 'Users Digest, Vol 112, Issue 9',
    headers: { ...LEAVE, 'List-Id': '<users.lists.example.org>' },
    text: `Today's Topics:\n\n   1. Re: 10% of mail is late (Ada)\n   2. {braces} in templates (Grace)\n\n${'-'.repeat(70)}\n\n> On Friday Grace wrote:\n> price was $5, is $7\n\n100%_sure. Maybe 50%.\n`,
  },
  'a letter, as text': {
    from: 'Ada Lovelace <ada@example.org>',
    subject: 'Tomorrow',
    text: 'Dear Charles,\n\nnull and void, as you say. NaN is not a number.\n\nAda\n',
  },
  'a Japanese receipt': {
    from: '例の店 <orders@example.jp>',
    subject: 'ご注文ありがとうございます（注文番号：1001）',
    text: 'ご注文ありがとうございます。\n合計：¥12,980（税込）\nhttps://shop.example.jp/orders/1001\n',
    html: '<p>ご注文ありがとうございます。</p><p>合計：<b>¥12,980</b>（税込）</p><p><a href="https://shop.example.jp/orders/1001">注文の詳細</a></p>',
  },
  'an Arabic welcome': {
    from: 'متجر <hello@example.com>',
    subject: 'مرحبًا بك',
    text: 'مرحبًا بك في متجرنا.\nhttps://example.com/ar\n',
    html: '<html dir="rtl" lang="ar"><body style="direction:rtl;text-align:right"><p>مرحبًا بك في متجرنا.</p><p><a href="https://example.com/ar">ابدأ</a></p></body></html>',
  },
  'a newsletter for programmers': {
    from: 'Example Weekly <weekly@example.dev>',
    subject: 'undefined vs. null, ASP.NET 10, and Node.js streams',
    headers: LEAVE,
    text: 'undefined vs. null: https://blog.example.dev/undefined-vs-null\nASP.NET 10: https://dotnet.microsoft.com/apps/aspnet\nNode.js: https://nodejs.org/api/stream.html\n',
    html: `<ul><li><a href="https://blog.example.dev/undefined-vs-null">undefined vs. null</a>: why typeof undefined is "undefined", null, an object.</li>
<li><a href="https://dotnet.microsoft.com/apps/aspnet">ASP.NET</a> 10 is out, with <code>{{ }}</code> nowhere.</li>
<li><a href="https://nodejs.org/api/stream.html">Node.js</a>: <kbd>%USER_NAME.x%</kbd> and <samp>[object Object]</samp> explained, [Object] too.</li></ul>`,
  },
  'a welcome in the dark': {
    from: 'Example <hi@example.com>',
    subject: 'Welcome to Example!',
    text: 'Welcome, Ada. Begin here: https://app.example.com/start?t=a1b2c3d4e5f60718293a\n',
    html: `<html lang="en"><head><meta name="supported-color-schemes" content="light dark"><style>:root { color-scheme: light dark; } @media (prefers-color-scheme: dark) { .card { background: #111 !important; display: flex; gap: 4px } } .dark-img { display: none }</style></head>
<body><div class="card"><img class="light-img" src="https://cdn.example.com/l.png" width="48" height="48" alt="Example"><img class="dark-img" src="https://cdn.example.com/d.png" width="48" height="48" alt=""><p>Welcome, Ada. You have 14 days to try everything.</p><a href="https://app.example.com/start?t=a1b2c3d4e5f60718293a">Begin</a></div></body></html>`,
  },
  'a ticket with its code in the message': {
    from: 'Example Events <tickets@events.example.com>',
    subject: 'Your ticket for “Analytical Engines”',
    text: 'Your ticket: A-1001, row 4, seat 12. Open it here: https://events.example.com/t/A-1001\n',
    html: '<h2>Analytical Engines</h2><p>Row 4, seat 12. Show this code at the door; it also works when printed, and on a small screen.</p><img src="cid:code@events" width="300" height="300" alt="QR code of ticket A-1001"><p><a href="https://events.example.com/t/A-1001">Open the ticket</a></p>',
    attachments: [
      { filename: 'code.png', content: 'PNG', contentType: 'image/png', cid: 'code@events' },
      { filename: 'ticket.pkpass', content: 'PK', contentType: 'application/vnd.apple.pkpass' },
    ],
  },
  'a statement of account': {
    from: 'Example Bank <statements@bank.example>',
    subject: 'Your November statement',
    text: "Opening balance: CHF 12'345.60\nCard payment: -CHF 45.00\nSalary: CHF 7'000.-\nClosing balance: CHF 19'300.60\n",
    html: "<table><tr><th>Opening balance</th><td>CHF&nbsp;12'345.60</td></tr><tr><th>Card payment</th><td>&minus;45.00</td></tr><tr><th>Salary</th><td>7'000.00</td></tr><tr><th>Closing balance</th><td>CHF <strong>19'300.60</strong></td></tr></table>",
  },
  'what a contact form sends': {
    from: 'Website <forms@example.com>',
    subject: 'New enquiry',
    headers: { 'Reply-To': 'Charles <charles@gmail.com>' },
    text: 'From: Charles <charles@gmail.com>\n\nDo you ship to London?\n',
  },
  'a survey': {
    from: 'Example <feedback@example.com>',
    subject: 'How did we do? (1 minute)',
    headers: LEAVE,
    text: [0, 5, 10]
      .map((score) => `${score}: https://survey.example.net/r/7c6b5a49382716051423?score=${score}`)
      .join('\n'),
    html: `<p>How likely are you to recommend us, from 0 to 10?</p>${[0, 5, 10].map((score) => `<a href="https://survey.example.net/r/7c6b5a49382716051423?score=${score}" style="padding:8px">${score}</a>`).join(' ')}<p>100% anonymous; takes 1 minute.</p>`,
  },
};
