import { decodeJson } from '../../lib/decode.ts';
import type { AnswerFacts, AnswerRow, HttpAnswer } from './provider.ts';
import { textOf } from './provider.ts';

/** Characters of what SES says that are read. */
const MAX_TEXT = 2000;

// biome-ignore format: a table
const ANSWERS: readonly AnswerRow[] = [
  { status: 200, meaning: 'done', enhanced: '2.0.0', note: 'Accepted; `MessageId` has its id' },
  { status: '4xx', code: 'NotVerified', meaning: 'later', enhanced: '4.7.1', note: 'MessageRejected because the sender (in the sandbox: a recipient) is not verified' },
  { status: '4xx', code: 'MessageRejected', meaning: 'never', enhanced: '5.6.0', note: 'The content is refused' },
  { status: '4xx', code: 'AccountSuspendedException', meaning: 'relay_ill', enhanced: '4.7.0', note: 'The account may no longer send' },
  { status: '4xx', code: 'SendingPausedException', meaning: 'relay_ill', enhanced: '4.7.0', note: 'Sending is paused for the account or the configuration set' },
  { status: '4xx', code: 'MailFromDomainNotVerifiedException', meaning: 'later', enhanced: '4.3.5', note: 'The MAIL FROM domain of the sender’s identity is not set up' },
  { status: '4xx', code: 'AccountSendingPausedException', meaning: 'relay_ill', enhanced: '4.7.0', note: 'Sending is paused for the account' },
  { status: '4xx', code: 'LimitExceeded', meaning: 'relay_ill', enhanced: '4.7.1', note: 'A quota of the account is used up' },
  { status: '4xx', code: 'ServiceQuotaExceededException', meaning: 'relay_ill', enhanced: '4.7.1', note: 'A quota of the account is used up' },
  { status: '4xx', code: 'LimitExceededException', meaning: 'relay_ill', enhanced: '4.7.1', note: 'A quota of the account is used up' },
  { status: '4xx', code: 'ThrottlingException', meaning: 'relay_ill', enhanced: '4.7.1', note: 'Sending rate, or the day’s quota, is used up' },
  { status: '4xx', code: 'Throttling', meaning: 'relay_ill', enhanced: '4.7.1', note: 'Sending rate, or the day’s quota, is used up' },
  { status: '4xx', code: 'TooManyRequestsException', meaning: 'relay_ill', enhanced: '4.7.1', note: 'Too many requests, or the sending rate is used up' },
  { status: '4xx', code: 'UnrecognizedClientException', meaning: 'relay_ill', enhanced: '4.7.8', note: 'The access key is not known' },
  { status: '4xx', code: 'InvalidClientTokenId', meaning: 'relay_ill', enhanced: '4.7.8', note: 'The access key is not known' },
  { status: '4xx', code: 'InvalidSignatureException', meaning: 'relay_ill', enhanced: '4.7.8', note: 'The secret does not belong to the access key, or our clock is wrong' },
  { status: '4xx', code: 'SignatureDoesNotMatch', meaning: 'relay_ill', enhanced: '4.7.8', note: 'The secret does not belong to the access key' },
  { status: '4xx', code: 'ExpiredToken', meaning: 'relay_ill', enhanced: '4.7.8', note: 'The credentials have expired' },
  { status: '4xx', code: 'ExpiredTokenException', meaning: 'relay_ill', enhanced: '4.7.8', note: 'The credentials have expired' },
  { status: '4xx', code: 'RequestExpired', meaning: 'relay_ill', enhanced: '4.7.8', note: 'Our clock is wrong' },
  { status: '4xx', code: 'IncompleteSignature', meaning: 'relay_ill', enhanced: '4.7.8', note: 'The access key is malformed' },
  { status: '4xx', code: 'MissingAuthenticationToken', meaning: 'relay_ill', enhanced: '4.7.8', note: 'The endpoint is wrong, or the key is malformed' },
  { status: '4xx', code: 'MissingAuthenticationTokenException', meaning: 'relay_ill', enhanced: '4.7.8', note: 'The endpoint is wrong, or the key is malformed' },
  { status: '4xx', code: 'IdentityDenied', meaning: 'later', enhanced: '4.7.1', note: 'AccessDeniedException that names an identity: the key may not send as, or to, that identity' },
  { status: '4xx', code: 'AccessDeniedException', meaning: 'relay_ill', enhanced: '4.7.0', note: 'The key’s policy does not let it send' },
  { status: '4xx', code: 'OptInRequired', meaning: 'relay_ill', enhanced: '4.7.0', note: 'The account has no SES' },
  { status: '4xx', code: 'RequestTimeout', meaning: 'later', enhanced: '4.4.2', note: 'The request arrived too slowly' },
  { status: '4xx', code: 'ConcurrentModificationException', meaning: 'later', enhanced: '4.3.0', note: 'The account is being changed' },
  { status: '4xx', code: 'DuplicateHeader', meaning: 'later', enhanced: '4.6.0', note: 'BadRequestException: a header field appears twice; another relay may accept that' },
  { status: '4xx', code: 'InvalidMessage', meaning: 'never', enhanced: '5.6.0', note: 'BadRequestException whose text names an address or the message as malformed' },
  { status: '4xx', code: 'BadRequestException', meaning: 'later', enhanced: '4.6.0', note: 'Refused for an unknown reason' },
  { status: 413, meaning: 'never', enhanced: '5.3.4', note: 'The message is too large' },
  { status: 500, meaning: 'later', enhanced: '4.3.0', note: 'SES has a fault' },
  { status: 503, meaning: 'relay_ill', enhanced: '4.3.2', note: 'SES is out of service' },
];

/** SES's own words for what its codes do not tell apart: with the code, the first that match. */
// biome-ignore format: a table
const TEXTS: readonly (readonly [code: string, text: RegExp, ours: string])[] = [
  ['MessageRejected', /\bnot verified\b/i, 'NotVerified'],
  ['MessageRejected', /\b(?:paused|suspended|disabled)\b/i, 'SendingPausedException'],
  ['AccessDeniedException', /:identity\//, 'IdentityDenied'],
  ['BadRequestException', /^configuration set\b/i, 'NotFoundException'],
  ['BadRequestException', /^duplicate header\b/i, 'DuplicateHeader'],
  ['BadRequestException', /^(?:illegal|missing|malformed|nested|invalid (?:email|address|domain|header)|domain (?:contains|starts|ends)|local (?:address|part)|user ?name|message length|recipient count)\b/i, 'InvalidMessage'],
];

/** What SES's answers mean. Without a configuration set of the relay's own, trouble with one is that of the sender's identity. */
export function sesAnswers(configurationSet: string | null): readonly AnswerRow[] {
  const meaning = configurationSet === null ? 'later' : 'relay_ill';
  // biome-ignore format: a table
  return [
    ...ANSWERS,
    { status: '4xx', code: 'NotFoundException', meaning, enhanced: '4.3.5', note: 'The configuration set does not exist' },
    { status: '4xx', code: 'ConfigurationSetDoesNotExist', meaning, enhanced: '4.3.5', note: 'The configuration set does not exist' },
    { status: '4xx', code: 'ConfigurationSetDoesNotExistException', meaning, enhanced: '4.3.5', note: 'The configuration set does not exist' },
    { status: '4xx', code: 'ConfigurationSetSendingPausedException', meaning, enhanced: '4.7.0', note: 'Sending is paused for the configuration set' },
  ];
}

/** Reads an answer; where a code says too little, its text tells more, by a code of ours. */
export function readSesAnswer({ status, headers, body }: HttpAnswer): AnswerFacts {
  const value = decodeJson(body);
  const messageId = textOf(value, 'MessageId', MAX_TEXT);
  if (status < 300) return { code: null, text: null, messageId, understood: messageId !== null };
  const text = textOf(value, 'message', MAX_TEXT) ?? textOf(value, 'Message', MAX_TEXT);
  const type =
    headers['x-amzn-errortype'] ?? textOf(value, '__type', MAX_TEXT) ?? textOf(value, 'code', MAX_TEXT);
  const code = type?.replace(/^.*#/, '').replace(/:.*$/, '').trim() ?? null;
  const ours = TEXTS.find(([theirs, pattern]) => theirs === code && pattern.test(text ?? ''))?.[2];
  return { code: ours ?? code, text, messageId: null, understood: code !== null };
}
