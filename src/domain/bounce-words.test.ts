import { expect, test } from 'vitest';
import { bounceTypeOf } from './bounce.ts';
import type { BounceType } from './feedback.ts';

/**
 * Replies of real servers, with the documentation or the collection of returned mail that shows them. Lines of one
 * reply are joined by a blank, as in a Diagnostic-Code.
 */
const SOURCES = {
  // Returned mail with the addresses changed, by file: github.com/sisimai/set-of-emails
  set: 'set-of-emails',
  // The comments and words of lib/Sisimai/Rhost and Reason: github.com/sisimai/p5-sisimai
  rhost: 'p5-sisimai',
  // assets/community/bounces.toml, with the gaps of its expressions filled: github.com/KumoCorp/kumomta
  kumo: 'kumomta',
  // “Typische Fehlermeldungen bei Unzustellbarkeit”: sitepackage.de/service/dokumentation/auswertung
  site: 'sitepackage.de',
  codes: 'smtp.codes/550',
  uim: 'smtp.codes/unitedinternet',
  gmx: 'postmaster.gmx.com/en/error-messages',
  ionos: 'ionos.com/help/email/troubleshooting-mail-basicmail-business',
  byte: 'bytecamp.net/de/faq/email/zustellen.html',
  one: 'support.onesystems.ch/722126',
  cssl: 'coviserver.de/e-mail-geblockt',
  horn: 'support.everycloud.com/support/solutions/articles/4000007755',
  mime: 'mimecastsupport.zendesk.com/hc/en-us/articles/34000709564691',
  barra: 'luxsci.com/blog/?p=16857',
  cuda: 'suped.com/learn/blocklists/why-are-my-emails-blocked-by-barracuda',
  gadz: 'doc.gadz.org/pages/diffpages.action?originalId=21791317',
  dbmail: 'dbmailserver.com/tui-xin-address-not-exist.htm',
  sina: 'blog.sina.com.cn/s/blog_8dc13ec50101fxxr.html',
  ali: 'zyy100.com/article-show-50-246.html',
  szhot: 'help.szhot.com/text_show.php?id=170',
  exim: 'git.exim.org/exim.git test/stderr/0094',
  qmail: 'qmail-smtpd.c of netqmail 1.06',
  milter: 'spamass-milter.cpp: its reject text and code',
  spam: 'spambrella.com/faq/email-delivery-error-codes',
} as const;

// biome-ignore format: a table, one row a reply.
const REPLIES: readonly [BounceType, string, keyof typeof SOURCES, string][] = [
  // Postfix
  ['hard', 'Postfix', 'set', '550 5.1.1 <neko@example.co.jp>: Recipient address rejected: User unknown in virtual mailbox table'],
  ['hard', 'Postfix', 'set', '550 <kijitora@example.ed.jp>: Recipient address rejected: User unknown in local recipient table'],
  ['hard', 'Postfix', 'kumo', '550 <ann@example.org>: Recipient address rejected: undeliverable address: No such user here'],
  ['hard', 'Postfix, Lycos', 'site', '550 <ann@example.org>: Recipient address rejected: Account Closed'],
  ['soft', 'Postfix', 'set', '450 4.1.1 <kijitora@example.org>: Recipient address rejected: User unknown in virtual alias table'],
  ['soft', 'Postfix', 'byte', '450 4.2.0 Recipient address rejected: Greylisted'],
  ['soft', 'Postfix', 'set', '552 5.2.2 <neko@nyaaan.example.org> Quota exceeded (mailbox for user is full)'],
  ['block', 'Postfix', 'set', '554 5.7.1 <kijitora@example.org>: Relay access denied'],
  ['block', 'Postfix', 'one', '554 5.7.1 <ann@example.org>: Recipient address rejected: User unknown'],
  ['block', 'Postfix', 'set', '554 5.7.1 <a8-95.smtp-out.amazonses.com[203.0.113.22]>: Client host rejected: blocked using mail.neko.example.org'],
  ['block', 'Postfix', 'one', '554 5.7.1 Service unavailable; Client host [192.0.2.1] blocked using ix.dnsbl.manitu.net'],
  ['undetermined', 'Postfix', 'set', '550 Protocol violation (in reply to DATA command)'],
  ['undetermined', 'Postfix', 'set', '501 5.1.8 Sender address rejected'],
  // Exim
  ['hard', 'Exim, Freenet', 'site', '550 unrouteable address'],
  ['hard', 'Exim, cPanel', 'kumo', '550 No Such User Here'],
  ['hard', 'Exim', 'site', '550 Unknown local part alias in <alias@example.org>'],
  ['block', 'Exim', 'exim', '550 relay not permitted'],
  ['block', 'Exim', 'set', '550-192.0.2.222 blocked by ldap:ou=nekochan,dc=example,dc=net 550 Error - Blocked for abuse. See http://example.net/nyaan'],
  ['block', 'Exim', 'set', '550 Bad SPF records for [example.org:192.0.2.2], see http://spf.pobox.com/'],
  ['block', 'Exim', 'set', '571 No PTR Record found. Reverse DNS required: 203.0.113.22'],
  ['block', 'Exim', 'set', '550-Your message was rejected by this system and was not delivered. 550-Reason: This system will not accept messages from servers/devices with no reverse DNS. IP=[203.0.113.2]'],
  ['block', 'Exim', 'set', "554 neko-22.nyaan.r.example.net : CAT : neko22 : CAT : You've reached your daily relay quota - 203.0.113.0"],
  ['undetermined', 'Exim', 'set', '550 Unroutable sender address'],
  ['undetermined', 'Exim', 'set', '553 neko.example.com does not exist'],
  ['block', 'Exim, cPanel', 'kumo', '550 The mail server could not deliver mail to list@example.net. The account or domain may not exist, they may be blacklisted, or missing the proper dns entries'],
  ['undetermined', 'Exim', 'kumo', '550 Sender ann@example.net has no A, AAAA, or MX DNS records'],
  // Sendmail
  ['hard', 'Sendmail', 'set', '550 5.1.1 <userunknown@bouncehammer.jp>... User Unknown'],
  ['hard', 'Sendmail', 'set', '550 <kijitora@example.org>, User Unknown'],
  ['hard', 'Sendmail', 'set', '550 kijitora@example.org... No such user'],
  ['hard', 'Sendmail', 'set', '551 not our user'],
  ['hard', 'Sendmail', 'set', '551 not our customer'],
  ['hard', 'Sendmail', 'set', '550 5.1.2 <kijitora@example.org>... Host unknown (Name server: smtp24.example.org: no data known)'],
  ['block', 'Sendmail', 'set', '550 5.6.9 improper use of 8-bit data in message header'],
  ['block', 'Sendmail', 'set', '550 5.7.1 <root@nijo.example.jp>... Access denied'],
  ['soft', 'Sendmail', 'set', '552 5.2.3 Message size exceeds fixed maximum message size (10485760)'],
  ['soft', 'Sendmail', 'set', '554 5.4.6 Too many hops'],
  ['undetermined', 'Sendmail', 'set', '553 5.3.5 system config error'],
  ['undetermined', 'Sendmail', 'set', '553 5.1.8 <httpd@host1.mx.example.jp>... Domain of sender address httpd@host1.mx.example.jp does not exist'],
  // qmail, which puts its codes at the end
  ['hard', 'qmail', 'set', '550 sorry, no mailbox here by that name (#5.1.1 - chkusr)'],
  ['hard', 'qmail', 'site', '554 Sorry, no mailbox here by that name. (#5.1.1)'],
  ['hard', 'qmail', 'rhost', '550 this recipient is not in my validrcptto list'],
  ['soft', 'qmail', 'set', '552 sorry, mailbox kijitora@example.org is over quota temporarily (#5.1.1)'],
  ['block', 'qmail', 'qmail', "553 sorry, that domain isn't in my list of allowed rcpthosts (#5.7.1)"],
  // Exchange, Exchange Online, Outlook.com
  ['hard', 'Exchange', 'set', '550 5.1.1 RESOLVER.ADR.RecipNotFound; not found'],
  ['hard', 'Exchange Online', 'set', '550 5.1.10 RESOLVER.ADR.RecipientNotFound; Recipient not found by SMTP address lookup'],
  ['soft', 'Exchange', 'set', '550 5.2.2 STOREDRV.Deliver: mailbox full. The following information should help identify the cause'],
  ['soft', 'Exchange', 'set', '550 4.4.7 QUEUE.Expired; message expired'],
  ['soft', 'Exchange Online', 'set', '550 5.4.1 [kijitora@example.br]: Recipient address rejected: Access denied [BL2NAM02FT061.eop-nam02.prod.protection.outlook.com]'],
  ['soft', 'Exchange Online', 'set', '550 5.4.316 Message expired, connection refused'],
  ['block', 'Exchange', 'set', '550 5.7.1 RESOLVER.RST.AuthRequired; authentication required'],
  ['block', 'Exchange Online', 'set', '550 5.7.606 Access denied, banned sending IP [198.51.100.222]. To request removal from this list please visit https://sender.office.com/'],
  ['block', 'Exchange Online', 'set', '550 5.7.509 Access denied, sending domain [EXAMPLE.JP] does not pass DMARC verification and has a DMARC policy of reject.'],
  ['hard', 'Outlook.com', 'set', '550 Requested action not taken: mailbox unavailable (-0000000022:2222:-0000000022)'],
  ['soft', 'Outlook.com', 'kumo', '550 5.5.0 Requested action not taken: mailbox unavailable'],
  ['block', 'Outlook.com', 'set', "550 SC-004 (COL0-MC1-F1) Unfortunately, messages from 111.86.156.22 weren't sent. Please contact your Internet service provider since part of their network is on our block list."],
  ['block', 'Outlook.com', 'cssl', "550 5.7.1 Unfortunately, messages from [192.0.2.1] weren't sent. Please contact your Internet service provider since part of their network is on our block list (AS3140)."],
  // Gmail
  ['hard', 'Gmail', 'set', "550-5.1.1 The email account that you tried to reach does not exist. Please try 550-5.1.1 double-checking the recipient's email address for typos or 550-5.1.1 unnecessary spaces. Learn more at 550 5.1.1 https://support.google.com/mail/?p=NoSuchUser"],
  ['hard', 'Gmail', 'set', '550-5.2.1 The email account that you tried to reach is disabled. Learn more at 550 5.2.1 https://support.google.com/mail/?p=DisabledUser - gsmtp'],
  ['soft', 'Gmail', 'set', "552-5.2.2 The recipient's inbox is out of storage space and inactive. Please 552-5.2.2 direct the recipient to 552 5.2.2 https://support.google.com/mail/?p=OverQuotaPerm - gsmtp"],
  ['block', 'Gmail', 'set', '550-5.7.26 This mail has been blocked because the sender is unauthenticated. 550-5.7.26 Gmail requires all senders to authenticate with either SPF or DKIM.'],
  ['block', 'Gmail', 'set', '550-5.7.1 [192.0.2.22 18] Our system has detected that this message is 550-5.7.1 likely suspicious due to the very low reputation of the sending IP 550-5.7.1 address.'],
  ['block', 'Gmail', 'set', '552-5.7.0 This message was blocked because its content presents a potential'],
  // Yahoo, AOL
  ['hard', 'AOL', 'site', '550 MAILBOX NOT FOUND'],
  ['block', 'Yahoo', 'set', '554 Message not allowed - [PH01] Email not accepted for policy reasons. Please visit https://postmaster.yahooinc.com/error-codes'],
  ['block', 'Yahoo', 'set', '554 5.7.9 Message not accepted for policy reasons. See https://senders.yahooinc.com/error-codes'],
  ['block', 'Yahoo', 'rhost', "553 5.7.1 [BL21] Connections will not be accepted from 192.0.2.25, because the ip is in Spamhaus's list; see http://postmaster.yahoo.com/550-bl23.html"],
  ['block', 'Yahoo', 'rhost', '550 relaying denied for <ann@yahoo.com>'],
  ['soft', 'Yahoo', 'set', '421 4.7.0 [TSS04] Messages from 192.0.2.192 temporarily deferred due to unexpected volume or user complaints - 4.16.55.1'],
  // Only 550, 551 and 553 make a mailbox unknown by words.
  ['undetermined', 'Yahoo', 'set', "554 delivery error: dd This user doesn't have a yahoo.com account (this-local-part-does-not-exist@yahoo.com) [0] - mta1061.mail.ne1.yahoo.com"],
  ['undetermined', 'Yahoo', 'rhost', '552 1 Requested mail action aborted, mailbox not found'],
  // Apple
  ['hard', 'iCloud', 'set', '550 5.1.1 <pseudo-local-part-of-icloud@icloud.com>: inactive email address'],
  ['hard', 'iCloud', 'set', '550 5.1.6 recipient no longer on server: kijitora@example.go.jp'],
  ['soft', 'iCloud', 'set', '552 5.2.2 <pseudo-local-part-of-apple-icloud-mail@icloud.com>: user is over quota'],
  ['block', 'iCloud', 'set', "554 5.7.1 Your message was rejected due to libsisimai.org's DMARC policy. See https://support.apple.com/en-us/HT204137 for info"],
  // Proofpoint, Mimecast, Barracuda and other gateways
  ['block', 'Proofpoint', 'set', '554 Blocked - see https://support.proofpoint.com/dnsbl-lookup.cgi?ip=192.0.2.225'],
  ['block', 'Proofpoint', 'rhost', '550 5.7.0 Blocked - see https://support.proofpoint.com/dnsbl-lookup.cgi?ip=192.0.1.2'],
  ['block', 'Proofpoint', 'set', '550 5.7.0 Local Policy Violation'],
  ['block', 'Proofpoint Essentials', 'spam', '550 5.7.1 <ann@example.org>: Recipient address rejected: User email address is marked as invalid.'],
  ['hard', 'Mimecast', 'mime', '550 Invalid Recipient - https://community.mimecast.com/docs/DOC-1369#550 [z7qZw5BPd1zlDYHka4589ru.us222]'],
  ['block', 'Mimecast', 'set', '554 Host network not allowed - https://community.mimecast.com/docs/DOC-1369#554 [z7qZw5BPd1zlDYHka4589ru.us222]'],
  ['block', 'Mimecast', 'set', '554 email rejected due to security policies - MCSpamSignature.sa.2.2'],
  ['block', 'Mimecast', 'rhost', '550 Local CT IP Reputation - (reject)'],
  ['block', 'Mimecast', 'rhost', '550 Administrative prohibition envelope blocked'],
  ['block', 'Mimecast', 'rhost', '550 DMARC Sender Invalid - envelope rejected'],
  ['block', 'Mimecast', 'rhost', '550 Rejected by header-based Anti-Spoofing policy: ann@example.org'],
  ['hard', 'Barracuda', 'codes', '550 No such user (email@example.com)'],
  ['block', 'Barracuda', 'codes', '550 Blocked'],
  ['block', 'Barracuda', 'codes', '550 rejecting spoofed message'],
  ['block', 'Barracuda', 'cuda', '550 permanent failure for one or more recipients (ann@example.org:blocked)'],
  ['block', 'Barracuda', 'barra', '554 Service unavailable; Client host [server1.mail.com] blocked using Barracuda Reputation; http://bbl.barracudacentral.com/q.cgi?ip=192.168.1.1'],
  ['block', 'Barracuda', 'set', '550 5.7.1 Message content rejected, UBE, id=00000-22-225'],
  ['hard', 'Cisco IronPort', 'set', '550 #5.1.0 Address rejected.'],
  ['block', 'Hornetsecurity', 'horn', '554 5.6.1 Spam Header rejected'],
  ['soft', 'Hornetsecurity', 'horn', '554 5.5.4 Spam IP rejected'],
  ['hard', 'McAfee', 'set', '550 <kijitora-nyaan@example.co.jp>... User not exist'],
  ['block', 'MessageLabs', 'set', '550-Please turn on SMTP Authentication in your mail client. 550-mail0.bemta0.messagelabs.com [198.51.100.21]:11111 is not permitted to 550 relay through this server without authentication.'],
  // SpamAssassin behind amavis, spamass-milter, Exim
  ['block', 'amavis', 'set', '554 5.7.0 Reject, id=20025-09 - SPAM'],
  ['block', 'SpamAssassin', 'milter', '550 5.7.1 Blocked by SpamAssassin'],
  ['block', 'a filter of Postfix', 'set', '554 5.6.0 This message has been scored as spam with a probability of more than 90% (in reply to end of DATA command)'],
  ['block', 'several', 'kumo', '550 Message rejected as spam'],
  ['block', 'SURBL', 'set', '550-REJECTED - Blacklisted URL in message. (example.com) in [black]. 550-See http://lookup.uribl.com.'],
  // Spamhaus, GoDaddy and others that block hosts
  ['block', 'GoDaddy', 'set', '553 http://www.spamhaus.org/query/bl?ip=192.0.2.222'],
  ['block', 'GoDaddy', 'rhost', '550 This IP has sent too many to too many recipients this hour. IB607'],
  ['block', 'GoDaddy', 'rhost', '554 This IP has been temporarily blocked for attempting to mail too many invalid recipients. IB112'],
  ['block', 'GoDaddy', 'rhost', '552 Virus infected message rejected. IB705'],
  ['block', 'Comcast', 'set', '554 mta1.comcast.net comcast 203.0.113.2 Comcast requires that all mail servers must have a PTR record with a valid Reverse DNS entry.'],
  ['hard', 'Comcast', 'kumo', '550 Account Closed, Please Remove'],
  ['hard', 'AT&T', 'codes', '550 5.2.1 <EXAMPLE@PRODIGY.NET>... Addressee unknown, relay=[192.0.2.1]'],
  ['hard', 'Facebook', 'set', '550 5.1.1 RCP-P1 http://postmaster.facebook.com/response_codes?ip=192.0.2.54#rcp Recipient address does not exist'],
  ['block', 'Mail.ru', 'set', '550 5.7.1 This message was not accepted due to domain (libsisimai.org) owner DMARC policy (RFC 7489) https://help.mail.ru/mail-help/postmaster/dmarc'],
  ['hard', 'Mail.ru', 'kumo', '550 Message was not accepted -- invalid mailbox'],
  ['block', 'Mail.ru', 'kumo', '550 spam message rejected'],
  ['hard', 'i.ua', 'set', '550 Mailbox is frozen. See http://mail.i.ua/err/3/'],
  ['hard', 'Amazon WorkMail', 'set', '550 5.1.1 Mailbox does not exist'],
  // Germany
  ['hard', 'T-Online', 'site', '550 5.1.1 user unknown'],
  ['soft', 'T-Online', 'site', '552 5.2.2 Over STORAGE quota'],
  ['block', 'T-Online', 'kumo', '550 message has been rejected due to spam or virus classification'],
  ['undetermined', 'T-Online', 'set', '554 IP=192.0.2.254 - A problem occurred. (Ask your postmaster for help or to contact neko@example.org to clarify.) (BL)'],
  ['hard', 'web.de', 'site', '550 Benutzer nicht bekannt/User unknown'],
  ['soft', 'web.de', 'site', '550 Benutzer hat das Speichervolumen ueberschritten. / User has exhausted allowed storage space.'],
  ['soft', 'web.de', 'site', '550 Benutzer hat zuviele Mails auf dem Server. / User has too many messages on the server.'],
  ['soft', 'web.de', 'kumo', '552-Requested mail action aborted: exceeded storage allocation 552 Quota exceeded'],
  ['hard', 'GMX, IONOS', 'ionos', '550 Requested action not taken: mailbox unavailable'],
  ['block', 'GMX, web.de', 'kumo', '550-Requested action not taken: mailbox unavailable 550 Reject due to policy restrictions'],
  ['block', 'GMX', 'uim', '550 <example@example.com>: Reject due to SPF policy. The originating IP of the message is not permitted by the domain owner'],
  ['block', 'GMX', 'gmx', '554-gmx.net (mxgmx104) Nemesis ESMTP Service not available 554-No SMTP service 554-IP address is block listed. 554 For explanation visit https://postmaster.gmx.net/en/case?c=r0201'],
  ['block', 'GMX', 'set', '554-mail.com (mxgmxus002) Nemesis ESMTP Service not available 554-No SMTP service 554-Bad DNS PTR resource record. 554 For explanation visit http://postmaster.gmx.com/en/error-messages?ip=192.0.2.22&c=rdns'],
  ['hard', 'IONOS', 'ionos', '550 Unknown User'],
  ['soft', 'IONOS', 'ionos', '550 Quota Exceeded'],
  ['block', 'IONOS', 'ionos', '554 Service unavailable; Client host [192.0.2.1] blocked using rbl.orbitrbl.com - IP Black Listed'],
  ['block', 'bytecamp', 'byte', '571 5.7.1 message classified as spam (Nachricht als Spam eingestuft)'],
  // France
  ['hard', 'Orange', 'set', '550 5.1.1 Adresse d au moins un destinataire invalide. Invalid recipient. OFR_416 [416]'],
  ['block', 'Orange', 'set', '550 mwinf5c04 ME Adresse IP source bloquee pour incident de spam. Client host blocked for spamming issues. OFR006_102 Ref http://csi.cloudmark.com/reset-request/?ip=10.0.0.1 [102]'],
  ['block', 'Orange', 'kumo', '501 5.0.2 Mail rejected. DMARC check failed.'],
  ['undetermined', 'Orange', 'gadz', '550 5.2.0 Mail rejete. Mail rejected. ofr_506 [506] (in reply to end of DATA command)'],
  ['soft', 'Orange', 'set', '421 mwinf5c77 ME Service refuse. Veuillez essayer plus tard. Service refused, please try later. OFR_999 [999]'],
  ['soft', 'La Poste', 'set', '550 5.5.0 Le compte du destinataire est bloque. The recipient account is blocked. LPN007_426'],
  ['block', 'La Poste', 'set', '554 5.7.1 <xxxx.xxxx.net[192.0.2.1]:49309>: Client host rejected: #216 lpn LPN000_630'],
  ['block', 'Free', 'gadz', '550 spam detected (in reply to end of DATA command)'],
  ['block', 'SFR', 'gadz', '550 5.7.1 Message content rejected (in reply to end of DATA command)'],
  ['block', 'Alstom', 'gadz', '550 Denied by policy (in reply to end of DATA command)'],
  ['hard', 'isep.fr', 'kumo', '550 Utilisateur inconnu !'],
  // China
  ['hard', 'QQ', 'dbmail', '550 Mailbox not found. http://service.mail.qq.com/cgi-bin/help?subtype=1&&id=20022&&no=1000728'],
  ['block', 'QQ', 'rhost', '550 Mailbox unavailable or access denined'],
  ['block', 'QQ', 'set', '550 Ip frequency limited [V2VkIEFwciAgMyAxNjozNjo1OSBKU1QgMjAxOQo= Blocked IP 192.0.2.22]. http://service.mail.qq.com/cgi-bin/help?subtype=1&&id=20022&&no=1000725'],
  ['block', 'QQ', 'set', '550 DMARC check failed. http://service.mail.qq.com/cgi-bin/help?subtype=1&&no=1001508&&id=16.'],
  ['block', 'QQ', 'rhost', '550 Mail content denied'],
  ['hard', 'NetEase', 'dbmail', '550 User not found: 12345@163.com'],
  ['hard', 'NetEase', 'rhost', '550 User suspended'],
  ['hard', 'umail', 'dbmail', '550 no such user here (umail mta)'],
  ['hard', '21cn', 'dbmail', '550 #2175041 unavailable mail user'],
  ['hard', 'Coremail', 'dbmail', '550 abcd:user not exist'],
  ['hard', 'TOM', 'dbmail', '550 Local User [xxx@123.com] not found.'],
  ['hard', '21cn', 'dbmail', '550 RC:NE The email account does not exist.'],
  ['hard', 'Sina', 'sina', '550 mailbox unavailable. (邮箱不存在)'],
  ['hard', 'Sina', 'sina', '550 user is locked. (邮箱被锁)'],
  ['block', 'Sina', 'sina', '550 black ip. (发信IP被禁止)'],
  ['block', 'Sina', 'sina', '552 message rejected by anti-spam engine.(反垃圾邮件引擎被拒绝的邮件)'],
  ['block', 'Sina', 'sina', '552 message is too long. (邮件大小超过限制)'],
  ['block', 'Sina', 'sina', '554 rbl deny. (拒绝 RBL 中的邮件服务器)'],
  ['undetermined', 'Sina', 'sina', '553 host denies the sender. (拒绝发件人地址)'],
  ['block', 'Alibaba', 'ali', '554 Reject by behaviour spam at DATA State(Connection IP address:192.0.2.1)ANTISPAM_BAT[]: bad sending'],
  ['undetermined', '21cn', 'szhot', '550 is now disabled with SMTP service.'],
  // Japan
  ['hard', 'au (KDDI)', 'set', '550 <otsu-sakaba-hunter-neko-nyaaaaaaan@ezweb.ne.jp>: User unknown'],
  ['hard', 'docomo', 'set', '550 Unknown user this-local-part-does-not-exist@docomo.ne.jp'],
  ['block', 'docomo', 'set', '552 Too many recipients'],
];

test.each(REPLIES)('%s: %s (%s) %s', (type, _server, _source, reply) => {
  expect(bounceTypeOf(factsOf(reply))).toBe(type);
});

test('at least 80 replies are known, each from a named source', () => {
  expect(new Set(REPLIES.map(([, , , reply]) => reply)).size).toBe(REPLIES.length);
  expect(REPLIES.length).toBeGreaterThan(80);
  expect(Object.keys(SOURCES).filter((name) => !REPLIES.some(([, , source]) => source === name))).toEqual([]);
});

/** A reply as our client and the reader of notifications give it on. */
function factsOf(reply: string) {
  const [, code = '', enhanced = null, text = ''] =
    /^(\d{3})[ -](?:([245]\.\d{1,3}\.\d{1,3}) )?(.*)$/.exec(reply) ?? [];
  return { code: Number(code), enhanced, text };
}
