import { decodeWords, withoutComments } from './field-values.ts';
import { fieldValue } from './header-block.ts';
import type { ReportField } from './report-reading.ts';

/** Recognizes mail that programs send: by the name of a mail server, or as the automatic reply of somebody. */

/** Names that servers send bounces under (RFC 5321 §4.5.1, and by custom). */
const DAEMON = /(?:^|[\s"'<(])(?:mailer-daemon|postmaster)(?:@|[\s"'>)]|$)/i;
/** Fields that only automatic replies have, unless the value is `no`. */
const MARKS: readonly string[] = ['auto-submitted', 'x-autoreply', 'x-autorespond'];
/** By custom (RFC 3834 §2 knows them). `list` is not among them. */
const PRECEDENCES: readonly string[] = ['bulk', 'junk', 'auto_reply', 'auto-reply'];
/** Characters of a field to look at. */
const MAX_LOOKED_AT = 500;
const LETTER = /^[\p{L}\p{M}]/u;

/**
 * How subjects of absences begin, in lower case: the defaults of Outlook and Exchange, Gmail, Apple, Domino and others
 * in their languages. No letter follows, except in Chinese, Japanese and Korean.
 */
// biome-ignore format: one line for each language
const ABSENCES: readonly string[] = [
  'out of office', 'out of the office', 'automatic reply', 'auto reply', 'auto-reply', 'autoreply', 'auto response', 'auto-response', 'autoresponse', 'auto:', 'on vacation', 'vacation reply', 'away from', 'i am away',
  'abwesenheit', 'abwesenheitsnotiz', 'abwesenheitsassistent', 'abwesend', 'automatische antwort', 'automatische abwesenheitsnotiz', 'nicht im büro',
  'réponse automatique', "réponse automatique d'absence", 'absence du bureau', 'absent du bureau', "message d'absence", 'absence',
  'respuesta automática', 'fuera de la oficina', 'fuera de oficina', 'ausencia',
  'risposta automatica', 'risposta non al computer', 'fuori sede', 'fuori ufficio', 'assenza',
  'resposta automática', 'fora do escritório', 'ausência',
  'automatisch antwoord', 'afwezig', 'afwezigheidsbericht', 'niet aanwezig',
  'autosvar', 'automatiskt svar', 'automatisk svar', 'frånvaro', 'frånvarande', 'fravær', 'fraværende', 'ikke til stede',
  'automaattinen vastaus', 'poissa', 'poissaolo',
  'odpowiedź automatyczna', 'automatyczna odpowiedź', 'autoodpowiedź', 'nieobecność', 'poza biurem',
  'automatická odpověď', 'automatická odpoveď', 'nepřítomnost', 'neprítomnosť', 'mimo kancelář',
  'automatikus válasz', 'házon kívül', 'házon kívüli', 'răspuns automat', 'automatski odgovor', 'samodejni odgovor',
  'otomatik yanıt', 'ofis dışında', 'αυτόματη απάντηση', 'εκτός γραφείου',
  'автоматический ответ', 'автоответ', 'нет на работе', 'автоматична відповідь', 'автоматичен отговор', 'извън офиса',
  'automaatne vastus', 'automātiskā atbilde', 'automatinis atsakymas', 'tự động trả lời', 'trả lời tự động', 'balasan otomatis',
  'תשובה אוטומטית', 'מענה אוטומטי', 'رد تلقائي', 'ตอบกลับอัตโนมัติ', 'การตอบกลับอัตโนมัติ',
  '自动回复', '自动答复', '自動回覆', '自動回復', '外出时的自动答复', '自動応答', '自動返信', '不在', '자동 회신', '자동 응답', '부재중',
];

/** Whether a reverse-path, or the value of a From field, names a mail server. */
export function isDaemon(sender: string): boolean {
  return DAEMON.test(sender.slice(0, MAX_LOOKED_AT));
}

/** Whether a header is that of an automatic reply (RFC 3834): by its fields, or by its subject. */
export function isAutomaticReply(fields: readonly ReportField[]): boolean {
  const wordOf = (name: string) => firstWord(fieldValue(fields, name));
  if (MARKS.some((name) => wordOf(name) !== '' && wordOf(name) !== 'no')) return true;
  return PRECEDENCES.includes(wordOf('precedence')) || isAbsence(fieldValue(fields, 'subject') ?? '');
}

function firstWord(value: string | null): string {
  const [word = ''] = withoutComments((value ?? '').slice(0, MAX_LOOKED_AT)).split(';');
  return word.trim().toLowerCase();
}

function isAbsence(subject: string): boolean {
  const words = decodeWords(subject.slice(0, MAX_LOOKED_AT)).normalize('NFC').trim().toLowerCase();
  const text = words.replaceAll('’', "'").replace(/\s+/g, ' ');
  return ABSENCES.some((beginning) => text.startsWith(beginning) && !continues(text, beginning));
}

/** Whether the last word of the beginning goes on. */
function continues(text: string, beginning: string): boolean {
  const isWord = /[\p{sc=Latin}\p{sc=Cyrillic}\p{sc=Greek}]$/u.test(beginning);
  return isWord && LETTER.test(text.slice(beginning.length));
}
