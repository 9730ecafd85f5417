/**
 * What the words of a refusal say, for servers that give no enhanced status code. The phrases are matched without
 * regard to case, accents, apostrophes and punctuation; in ASCII, from the beginning of a word.
 */

/** Characters of a refusal that are read: what a reply keeps of its text. */
const MAX_READ = 1000;

/** The mailbox is unknown, does not exist, is invalid or disabled. */
const NO_MAILBOX = phrases(`
  user unknown|user is unknown|unknown user|user not known|user not found|user was not found|user not exist
  user does not exist|user doesnt exist|user doesnt have|user is inactive|user inactive|user is disabled|user disabled
  user suspended|user account disabled|user is terminated|user not active|users email name is not found|invalid user
  no such user|no such person|no such mailbox|no such mail box|no such address|no such recipient|no such account
  no such email|no such id|no such local|no account by that name|no mailbox|no mail box|no valid recipients
  nonexistent user|non existent user|not a known user|not a valid user|not a valid mailbox|not a valid recipient
  not our user|not our customer|is not a registered|no one with that|there is no one at this address
  mailbox not found|mailbox does not exist|mailbox doesnt exist|mailbox not exist|mailbox not present|mailbox unknown
  unknown mailbox|mailbox invalid|mailbox is invalid|invalid mailbox|mailbox disabled|mailbox is disabled
  mailbox inactive|mailbox is inactive|mailbox is frozen|deactivated mailbox|mailbox currently suspended
  recipient unknown|recipient is unknown|unknown recipient|recipient not found|recipient was not found
  recipient does not exist|recipient doesnt exist|recipient not exist|recipient is not exist|recipient unrecognized
  invalid recipient|recipient invalid|recipient is invalid|recipient no longer on server|envelope recipient has been den
  address unknown|address is unknown|unknown address|unknown email address|addressee unknown|address does not exist
  address doesnt exist|address not found|address was not found|email address could not be found|address not present
  address invalid|address is invalid|invalid address|inactive email address|bad destination|not an active address
  this address no longer accepts mail|is no longer valid|undeliverable address|unrouteable address|unroutable address
  account does not exist|account does not exists|account doesnt exist|account not found|account unknown
  unknown account|account is disabled|account disabled|account has been disabled|account closed|account inactive
  account is inactive|account is not active|account not active|inactive account|account is suspended
  unknown local part|unknown localpart|unknown alias|unknown or illegal alias|unknown or illegal user
  invalid or unknown virtual user|you tried to reach does not exist|you tried to reach is disabled
  you tried to reach is inactive|not in my validrcptto list|not listed in domino directory|in my badrcptto list
  benutzer nicht bekannt|benutzer unbekannt|unbekannter benutzer|benutzer existiert nicht|empfanger unbekannt
  empfaenger unbekannt|unbekannter empfanger|unbekannter empfaenger|empfanger existiert nicht|postfach unbekannt
  postfach existiert nicht|postfach nicht vorhanden|adresse unbekannt|adresse existiert nicht
  utilisateur inconnu|destinataire inconnu|adresse inconnue|destinataire invalide|boite inconnue|compte inexistant
  adresse inexistante|adresse nexiste pas|ladresse nexiste pas|utente sconosciuto|utente inesistente|destinatario sconosciuto
  indirizzo inesistente|usuario desconocido|usuario inexistente|no existe ese usuario|no existe dicha persona
  destinatario desconocido|usuario no existe|usuario desconhecido|nie ma takiego|nie istnieje
  用户不存在|用户未找到|收件人不存在|收件人地址不存在|邮箱不存在|地址不存在|查无此|无此用户|没有此用户|帐号不存在|账号不存在
  該用戶不存在|收件者不存在|ユーザーが存在しません|宛先が存在しません
  пользователь не найден|нет такого пользователя|почтовый ящик не существует`);

/**
 * Most servers mean the same by these. Next to words of a refusal or of waiting they mean those: RFC 5321 §4.2.3 lets
 * 550 say either.
 */
const PERHAPS_NO_MAILBOX = phrases(`
  mailbox unavailable|mailbox is unavailable|unavailable mail user|user is unavailable|address rejected
  recipient rejected|recipient address rejected|recipient is not accepted|rcpt is rejected|user is locked
  user rejected|account unavailable|mailbox not available`);

/** With one of these, a text is about the sender's mailbox, or about how many recipients were wrong. */
const OF_THE_SENDER = phrases(`
  sender|mail from|return path|from header|from domain|absender|expediteur|emetteur|mittente|remitente|发件人|发信人
  callback|callout|too many|excessive|dictionary attack|directory harvest|attempting to mail|helo|ehlo`);

/** The mailbox is full, or it was tried for too long. */
const FULL_OR_LATE = phrases(`
  mailbox full|mailbox is full|mailbox for user is full|inbox is full|inbox is out of storage|out of storage
  over quota|overquota|over the allowed quota|over storage quota|quota exceeded|quota limit exceeded|quota is exceeded
  exceeds quota|exceeded quota|exceeded its quota|exceeded email quota|extended quota violation|disk quota|mailbox quota
  mailbox limit|exceeded storage|exceeds storage|storage full|insufficient system storage|insufficient disk
  not enough space|not enough storage|exhausted allowed storage|too many messages on|too many messages in
  speichervolumen|postfach voll|postfach ist voll|benutzer hat zuviele mails|boite du destinataire pleine
  boite aux lettres pleine|boite pleine|casella piena|buzon lleno|容量满|容量已满|邮箱已满|空间不足|已满
  retry timeout exceeded|message expired|delivery time expired|in the queue too long|retry time not reached
  connection timed out|connection refused|unable to deliver in`);

/** The mailbox may be back later. */
const FOR_A_WHILE = phrases('temporar|try again|try later|retry|later|plus tard|spater|稍后');

/** A quota next to one of these limits sending. */
const SENT_TOO_MUCH = phrases(
  'sending quota|sending limit|relay quota|daily quota|monthly quota|sender|发信',
);

/** A list, a filter, a rule or a limit refuses this message or this server. It says nothing about the mailbox. */
const REFUSED = phrases(`
  block list|blocklist|blacklist|black list|blocked|blocking|black ip|blackhole|rbl|dnsbl|spamhaus|spamcop|sorbs
  barracuda reputation|ivmsip|cloudmark|listed on|is listed|listed in|banned|not welcome|bloque|liste noire|gesperrt
  sperrliste|黑名单|spam|junk|unsolicited|bulk mail|virus|malware|phish|spoof|fraud|content rejected|content denied
  content reject|message content|mail content|content filter|content policy|rejected by content|垃圾邮件|indesirable
  policy|policies|local rules|prohibited|prohibition|not allowed|not permitted|forbidden|access den|access is den
  permission den|not authorized|unauthorized|relay|restricted|richtlinie|politique|reputation|suspicious
  low score|dmarc|dkim|spf|unauthenticated|authentication|reverse dns|rdns|ptr|fcrdns|rate limit|rate exceeded|rate of
  rate too|at a rate|sending rate|sending quota|sending limit|ratelimit|frequency limited|frequency|throttl|频率|超限
  too many|too much|too quickly|too fast|unusual rate|unexpected volume|excessive volume|limit exceeded
  exceeded the max|daily limit|hourly limit|per hour|message too large|message too big|message is too|message size
  size limit|maximum size|exceeds size|attachment`);

/** What the words of a refusal may say. */
export type Said = 'no_mailbox' | 'full_or_late' | 'refused';

/** What the words of a refusal say: nothing, one thing, or several. Only the beginning of a long text is read. */
export function saidBy(text: string): ReadonlySet<Said> {
  const words = fold(text);
  const isSaid = (...wanted: readonly (readonly string[])[]) => wanted.some((some) => has(words, some));
  const said = new Set<Said>();
  if (isSaid(FULL_OR_LATE) && !isSaid(SENT_TOO_MUCH)) said.add('full_or_late');
  if (isSaid(REFUSED)) said.add('refused');
  if (isSaid(OF_THE_SENDER)) return said;
  if (isSaid(NO_MAILBOX) || (isSaid(PERHAPS_NO_MAILBOX) && !isSaid(REFUSED, FOR_A_WHILE)))
    said.add('no_mailbox');
  return said;
}

/** The phrases of a table, folded as texts are. One in ASCII begins with a blank, so that it matches whole beginnings. */
function phrases(table: string): readonly string[] {
  return table
    .split(/[|\n]/)
    .map((phrase) => plain(phrase.trim()))
    .filter((phrase) => phrase !== '')
    .map((phrase) => (phrase.charCodeAt(0) < 0x80 ? ` ${phrase}` : phrase));
}

function has(words: string, wanted: readonly string[]): boolean {
  return wanted.some((phrase) => words.includes(phrase));
}

/** Lower case, without the accents of Latin and Greek letters and without apostrophes. */
function plain(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/[\u0300-\u036f'\u2018\u2019]/g, '')
    .toLowerCase();
}

/** An address may contain any word, and codes between the lines of a reply would split phrases: both are left out. */
const NO_WORD = /@|^[245][0-9]{2}(?:-[245]\.[0-9]{1,3}\.[0-9]{1,3})?$|^[245]\.[0-9]{1,3}\.[0-9]{1,3}$/;

/** The words of a text, each after a blank. A URL counts by its host alone, since its path may contain any word. */
function fold(text: string): string {
  const parts = plain(text.slice(0, MAX_READ))
    .split(/\s+/)
    .flatMap((part) => hostOfUrl(part).split(/[^\p{L}\p{M}\p{N}@._+=-]+/u))
    .filter((part) => !NO_WORD.test(part))
    .flatMap((part) => part.split(/[._+=-]+/))
    .filter((part) => part !== '' && !NO_WORD.test(part));
  return ` ${parts.join(' ')}`;
}

function hostOfUrl(part: string): string {
  const start = part.indexOf('://');
  if (start < 0) return part;
  const rest = part.slice(start + '://'.length);
  const end = rest.search(/[/?#:]/);
  return end < 0 ? rest : rest.slice(0, end);
}
