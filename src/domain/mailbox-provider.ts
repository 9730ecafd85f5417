/**
 * The big mailbox providers, by their domains and MX hosts, and the concurrency that works with them. A provider's
 * domains share its limits: it sees one sender, whatever domain the mail is for. Only `mx` relays use this.
 */

/** A mailbox provider. */
export interface MailboxProvider {
  /** A short name for metrics and the queue. */
  readonly name: string;
  /** Recipient domains known to be its own. */
  readonly domains: readonly string[];
  /** Suffixes of its MX hosts' names, for its customers' domains; each begins with a dot. */
  readonly mxSuffixes: readonly string[];
  /** Attempts at once, over all of its domains, of one relay on one node. */
  readonly maxConcurrency: number;
  /** Attempts at once that a new lane starts with. */
  readonly initialConcurrency: number;
  /** Attempts begun per second, over all of its domains; 0 means no limit. */
  readonly maxRatePerSecond: number;
  /** The source of the figures. */
  readonly source: string;
}

// The table: data only. Names are lower case, A-labels; no domain appears twice, and no host suffix is within another.

const CAUTIOUS =
  'No public figures are known to us: a cautious start, and the window finds what the provider bears.';
const LARGE_SENDERS =
  'The provider publishes no figures. Attempts at once: common practice of large senders. Rate: a cautious bound of our own.';

/** Attempts at once, attempts at once of a new lane, attempts begun per second, and the source of the figures. */
function pace(maxConcurrency: number, initialConcurrency: number, maxRatePerSecond: number, source: string) {
  return { maxConcurrency, initialConcurrency, maxRatePerSecond, source };
}

/** Nothing public is known of these; limits range from those of narrow ones to those of large ones. */
const NARROW = pace(2, 1, 5, CAUTIOUS);
const SLIM = pace(3, 1, 5, CAUTIOUS);
const SMALL = pace(5, 1, 10, CAUTIOUS);
const MIDDLING = pace(10, 2, 20, CAUTIOUS);
/** Protects the mail of many companies, each with hosts of its own. */
const GATEWAY = pace(20, 4, 50, LARGE_SENDERS);

/** A provider: its domains, and the suffixes of its MX hosts' names, each list separated by spaces. */
function provider(name: string, domains: string, mxSuffixes: string, itsPace: typeof SMALL) {
  return { name, domains: words(domains), mxSuffixes: words(mxSuffixes), ...itsPace };
}

function words(text: string): readonly string[] {
  return text.split(/\s+/).filter((word) => word !== '');
}

/** All providers; their order does not matter. */
export const MAILBOX_PROVIDERS = [
  provider(
    'google',
    'gmail.com googlemail.com',
    '.google.com .googlemail.com',
    pace(10, 2, 50, LARGE_SENDERS),
  ),
  provider(
    'microsoft',
    `
    outlook.com hotmail.com live.com msn.com windowslive.com passport.com outlook.at outlook.be outlook.cl
    outlook.co.id outlook.co.th outlook.com.ar outlook.com.au outlook.com.br outlook.com.tr outlook.cz
    outlook.de outlook.dk outlook.es outlook.fr outlook.hu outlook.ie outlook.in outlook.it outlook.jp
    outlook.kr outlook.my outlook.ph outlook.pt outlook.sa outlook.sg hotmail.be hotmail.ca hotmail.ch
    hotmail.cl hotmail.co.jp hotmail.co.nz hotmail.co.th hotmail.co.uk hotmail.co.za hotmail.com.ar
    hotmail.com.au hotmail.com.br hotmail.com.tr hotmail.de hotmail.dk hotmail.es hotmail.fi hotmail.fr
    hotmail.gr hotmail.hu hotmail.it hotmail.nl hotmail.no hotmail.se live.at live.be live.ca live.cl
    live.co.uk live.co.za live.com.ar live.com.au live.com.mx live.com.pt live.cn live.de live.dk live.fi
    live.fr live.hk live.ie live.in live.it live.jp live.nl live.no live.ru live.se`,
    '.olc.protection.outlook.com',
    pace(10, 2, 25, LARGE_SENDERS),
  ),
  provider('microsoft-365', '', '.mail.protection.outlook.com .mx.microsoft', pace(20, 4, 50, LARGE_SENDERS)),
  provider(
    'yahoo',
    `
    yahoo.com ymail.com rocketmail.com myyahoo.com aol.com aim.com aol.co.uk aol.de aol.fr verizon.net
    netscape.net yahoo.at yahoo.be yahoo.bg yahoo.ca yahoo.cl yahoo.co.id yahoo.co.il yahoo.co.in
    yahoo.co.kr yahoo.co.nz yahoo.co.th yahoo.co.uk yahoo.co.za yahoo.com.ar yahoo.com.au yahoo.com.br
    yahoo.com.co yahoo.com.hk yahoo.com.mx yahoo.com.my yahoo.com.pe yahoo.com.ph yahoo.com.sg yahoo.com.tr
    yahoo.com.tw yahoo.com.vn yahoo.cz yahoo.de yahoo.dk yahoo.es yahoo.fi yahoo.fr yahoo.gr yahoo.hu
    yahoo.ie yahoo.in yahoo.it yahoo.nl yahoo.no yahoo.pl yahoo.pt yahoo.ro yahoo.se`,
    '.yahoodns.net',
    pace(
      10,
      2,
      20,
      'Postmaster guidance of the provider (few connections with many messages each, without figures). Attempts at once: common practice of large senders. Rate: a cautious bound of our own.',
    ),
  ),
  provider('yahoo-japan', 'yahoo.co.jp ymail.ne.jp', '.yahoo.co.jp', SLIM),
  provider('icloud', 'icloud.com me.com mac.com', '.mail.icloud.com', pace(10, 2, 20, LARGE_SENDERS)),
  provider(
    'comcast',
    'comcast.net',
    '.comcast.net',
    pace(
      20,
      2,
      25,
      'Attempts at once: under the 25 connections from one address that large senders report the provider to allow. Rate: a cautious bound of our own.',
    ),
  ),
  provider(
    'spectrum',
    'charter.net spectrum.net roadrunner.com rr.com twc.com brighthouse.com',
    '.charter.net',
    SMALL,
  ),
  provider(
    'att',
    `
    att.net sbcglobal.net bellsouth.net pacbell.net ameritech.net swbell.net snet.net flash.net nvbell.net
    prodigy.net`,
    '.prodigy.net',
    SMALL,
  ),
  provider(
    'united-internet',
    `
    gmx.de gmx.net gmx.at gmx.ch gmx.com gmx.co.uk gmx.fr gmx.es gmx.eu gmx.org gmx.us web.de mail.com
    email.com`,
    '.gmx.net .gmx.com .web.de .mail.com',
    SMALL,
  ),
  provider(
    'ionos',
    '',
    `
    .kundenserver.de .ionos.de .ionos.com .ionos.co.uk .ionos.fr .ionos.es .ionos.it .1and1.com .1and1.co.uk
    .1and1.fr .1and1.es`,
    MIDDLING,
  ),
  provider('t-online', 't-online.de magenta.de', '.t-online.de', SMALL),
  provider('freenet', 'freenet.de', '.freenet.de', SMALL),
  provider(
    'orange',
    'orange.fr wanadoo.fr voila.fr',
    '.orange.fr .wanadoo.fr',
    pace(
      2,
      1,
      5,
      'Attempts at once: large senders report that the provider refuses more than two or three from one address. Rate: a cautious bound of our own.',
    ),
  ),
  provider('free', 'free.fr aliceadsl.fr', '.free.fr', SLIM),
  provider('sfr', 'sfr.fr neuf.fr cegetel.net club-internet.fr numericable.fr', '.sfr.fr', SLIM),
  provider('laposte', 'laposte.net', '.laposte.net', NARROW),
  provider('ovh', '', '.mail.ovh.net .mail.ovh.ca', MIDDLING),
  provider(
    'libero',
    'libero.it virgilio.it inwind.it iol.it blu.it giallo.it',
    '.libero.it .virgilio.it',
    SMALL,
  ),
  provider('aruba', 'aruba.it', '.aruba.it', SMALL),
  provider('seznam', 'seznam.cz email.cz post.cz spoluzaci.cz', '.seznam.cz', SMALL),
  provider('wp', 'wp.pl o2.pl tlen.pl', '.wp.pl .o2.pl', SMALL),
  provider('onet', 'onet.pl op.pl onet.eu vp.pl poczta.onet.pl', '.onet.pl', SMALL),
  provider(
    'yandex',
    'yandex.ru yandex.com yandex.by yandex.kz yandex.com.tr ya.ru narod.ru',
    '.yandex.ru .yandex.net .yandex.com',
    MIDDLING,
  ),
  provider('mail-ru', 'mail.ru inbox.ru list.ru bk.ru internet.ru xmail.ru', '.mail.ru', MIDDLING),
  provider('rambler', 'rambler.ru lenta.ru ro.ru autorambler.ru myrambler.ru', '.rambler.ru', SMALL),
  provider('qq', 'qq.com foxmail.com vip.qq.com', '.qq.com', SLIM),
  provider(
    'netease',
    '163.com 126.com yeah.net vip.163.com vip.126.com 188.com',
    '.netease.com .163.com .126.com',
    SLIM,
  ),
  provider('sina', 'sina.com sina.cn vip.sina.com', '.sina.com.cn .sina.com .sina.cn', SLIM),
  provider('aliyun', 'aliyun.com', '.aliyun.com .mxhichina.com', SMALL),
  provider('naver', 'naver.com', '.naver.com', SMALL),
  provider('kakao', 'daum.net hanmail.net kakao.com', '.daum.net .kakao.com', SMALL),
  provider('docomo', 'docomo.ne.jp', '.docomo.ne.jp', NARROW),
  provider('kddi', 'au.com ezweb.ne.jp', '.au.com .ezweb.ne.jp', NARROW),
  provider('softbank', 'softbank.ne.jp i.softbank.jp', '.softbank.ne.jp .softbank.jp', NARROW),
  provider('rediff', 'rediffmail.com', '.rediffmail.com', SMALL),
  provider('telstra', 'bigpond.com bigpond.net.au telstra.com', '.bigpond.com .telstra.com', SMALL),
  provider('bell', 'bell.net sympatico.ca', '.bell.net', SMALL),
  provider('shaw', 'shaw.ca', '.shaw.ca', SMALL),
  provider('ziggo', 'ziggo.nl home.nl upcmail.nl', '.ziggo.nl', SMALL),
  provider('kpn', 'kpnmail.nl planet.nl hetnet.nl xs4all.nl', '.kpnmail.nl .kpn.com .xs4all.nl', SMALL),
  provider('telenet', 'telenet.be', '.telenet.be .telenet-ops.be', SMALL),
  provider('proximus', 'skynet.be proximus.be', '.skynet.be .proximus.be .belgacom.be', SMALL),
  provider('bluewin', 'bluewin.ch', '.bluewin.ch', SMALL),
  provider(
    'zoho',
    'zoho.com zohomail.com zohomail.eu zohomail.in',
    '.zoho.com .zoho.eu .zoho.in .zoho.com.au .zoho.jp .zohomail.com',
    MIDDLING,
  ),
  provider(
    'fastmail',
    'fastmail.com fastmail.fm messagingengine.com sent.com',
    '.messagingengine.com',
    MIDDLING,
  ),
  provider('proton', 'proton.me protonmail.com protonmail.ch pm.me', '.protonmail.ch .proton.me', MIDDLING),
  provider(
    'tuta',
    'tuta.com tutanota.com tutanota.de tutamail.com tuta.io keemail.me',
    '.tutanota.de .tuta.com',
    SMALL,
  ),
  provider('mailbox-org', 'mailbox.org', '.mailbox.org', SMALL),
  provider('posteo', 'posteo.de posteo.net', '.posteo.de', SMALL),
  provider('infomaniak', 'ik.me', '.infomaniak.ch .infomaniak.com', MIDDLING),
  provider('gandi', 'gandi.net', '.gandi.net', MIDDLING),
  provider('strato', '', '.rzone.de', MIDDLING),
  provider('rackspace', '', '.emailsrvr.com', MIDDLING),
  provider('godaddy', '', '.secureserver.net', MIDDLING),
  provider('namecheap', '', '.privateemail.com .registrar-servers.com', MIDDLING),
  provider('mimecast', '', '.mimecast.com .mimecast.co.za .mimecast-offshore.com', GATEWAY),
  provider('proofpoint', '', '.pphosted.com .ppe-hosted.com .gpphosted.com', GATEWAY),
  provider('barracuda', '', '.barracudanetworks.com', GATEWAY),
  provider('cisco', '', '.iphmx.com', GATEWAY),
  provider('symantec', '', '.messagelabs.com', GATEWAY),
  provider('trend-micro', '', '.trendmicro.com .trendmicro.eu', GATEWAY),
  provider('sophos', '', '.sophos.com', GATEWAY),
  provider('hornetsecurity', '', '.hornetsecurity.com .antispameurope.com', GATEWAY),
  provider('cloudflare', '', '.mx.cloudflare.net', GATEWAY),
  provider('forcepoint', '', '.mailcontrol.com', GATEWAY),
];

const BY_DOMAIN = new Map<string, MailboxProvider>(
  MAILBOX_PROVIDERS.flatMap((provider) => provider.domains.map((domain) => [domain, provider] as const)),
);
const BY_SUFFIX = new Map<string, MailboxProvider>(
  MAILBOX_PROVIDERS.flatMap((provider) => provider.mxSuffixes.map((suffix) => [suffix, provider] as const)),
);

/**
 * The provider of a recipient domain (lower case, A-labels), by an MX host that was connected to (null: none yet), else
 * by its name. The host takes precedence: a domain may have moved to another provider's servers.
 */
export function mailboxProviderOf(domain: string, mxHost: string | null): MailboxProvider | null {
  return (mxHost === null ? null : providerOfHost(mxHost)) ?? BY_DOMAIN.get(domain) ?? null;
}

function providerOfHost(mxHost: string): MailboxProvider | null {
  const host = `.${mxHost.toLowerCase().replace(/\.$/, '')}`;
  for (let dot = 0; dot >= 0; dot = host.indexOf('.', dot + 1)) {
    const found = BY_SUFFIX.get(host.slice(dot));
    if (found !== undefined) return found;
  }
  return null;
}
