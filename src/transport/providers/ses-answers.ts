import { decodeJson } from '../../lib/decode.ts';
import type { AnswerFacts, AnswerRow, HttpAnswer, Meaning } from './provider.ts';
import { textOf } from './provider.ts';

/** Characters of what SES says that are read. */
const MAX_TEXT = 2000;

const ANSWERS: readonly AnswerRow[] = [
  { status: 200, meaning: 'done', enhanced: '2.0.0', note: 'Taken; `MessageId` names it' },
  coded(
    'NotVerified',
    'later',
    '4.7.1',
    'MessageRejected, for the sender (in the sandbox: a recipient) is not verified',
  ),
  coded('MessageRejected', 'never', '5.6.0', 'The content is refused'),
  coded('AccountSuspendedException', 'relay_ill', '4.7.0', 'The account may not send any more'),
  coded(
    'SendingPausedException',
    'relay_ill',
    '4.7.0',
    'Sending is paused for the account or the configuration set',
  ),
  coded(
    'MailFromDomainNotVerifiedException',
    'later',
    '4.3.5',
    'The MAIL FROM domain of the sender’s identity is not set up',
  ),
  coded('AccountSendingPausedException', 'relay_ill', '4.7.0', 'Sending is paused for the account'),
  coded('LimitExceeded', 'relay_ill', '4.7.1', 'A quota of the account is used up'),
  coded('ServiceQuotaExceededException', 'relay_ill', '4.7.1', 'A quota of the account is used up'),
  coded('LimitExceededException', 'relay_ill', '4.7.1', 'A quota of the account is used up'),
  coded('ThrottlingException', 'relay_ill', '4.7.1', 'Sending rate, or the day’s quota, is used up'),
  coded('Throttling', 'relay_ill', '4.7.1', 'Sending rate, or the day’s quota, is used up'),
  coded(
    'TooManyRequestsException',
    'relay_ill',
    '4.7.1',
    'Too many requests, or the sending rate is used up',
  ),
  coded('UnrecognizedClientException', 'relay_ill', '4.7.8', 'The access key is not known'),
  coded('InvalidClientTokenId', 'relay_ill', '4.7.8', 'The access key is not known'),
  coded(
    'InvalidSignatureException',
    'relay_ill',
    '4.7.8',
    'The secret does not belong to the access key, or our clock is wrong',
  ),
  coded('SignatureDoesNotMatch', 'relay_ill', '4.7.8', 'The secret does not belong to the access key'),
  coded('ExpiredToken', 'relay_ill', '4.7.8', 'The credentials are of the past'),
  coded('ExpiredTokenException', 'relay_ill', '4.7.8', 'The credentials are of the past'),
  coded('RequestExpired', 'relay_ill', '4.7.8', 'Our clock is wrong'),
  coded('IncompleteSignature', 'relay_ill', '4.7.8', 'The access key is malformed'),
  coded(
    'MissingAuthenticationToken',
    'relay_ill',
    '4.7.8',
    'The endpoint is another, or the key is malformed',
  ),
  coded(
    'MissingAuthenticationTokenException',
    'relay_ill',
    '4.7.8',
    'The endpoint is another, or the key is malformed',
  ),
  coded(
    'IdentityDenied',
    'later',
    '4.7.1',
    'AccessDeniedException that names an identity: the key may not send as, or to, this one',
  ),
  coded('AccessDeniedException', 'relay_ill', '4.7.0', 'The key’s policy does not let it send'),
  coded('OptInRequired', 'relay_ill', '4.7.0', 'The account has no SES'),
  coded('RequestTimeout', 'later', '4.4.2', 'The request came too slowly'),
  coded('ConcurrentModificationException', 'later', '4.3.0', 'Something in the account is being changed'),
  coded(
    'DuplicateHeader',
    'later',
    '4.6.0',
    'BadRequestException: a header field stands twice; another relay may take that',
  ),
  coded(
    'InvalidMessage',
    'never',
    '5.6.0',
    'BadRequestException whose text names an address or the message as malformed',
  ),
  coded('BadRequestException', 'later', '4.6.0', 'Refused, and not said in known words why'),
  { status: 413, meaning: 'never', enhanced: '5.3.4', note: 'The message is too large' },
  { status: 500, meaning: 'later', enhanced: '4.3.0', note: 'SES has a fault' },
  { status: 503, meaning: 'relay_ill', enhanced: '4.3.2', note: 'SES is out of service' },
];

/** SES's own words for what its codes do not tell apart: with the code, the first that match. */
const TEXTS: readonly (readonly [code: string, text: RegExp, ours: string])[] = [
  ['MessageRejected', /\bnot verified\b/i, 'NotVerified'],
  ['MessageRejected', /\b(?:paused|suspended|disabled)\b/i, 'SendingPausedException'],
  ['AccessDeniedException', /:identity\//, 'IdentityDenied'],
  ['BadRequestException', /^configuration set\b/i, 'NotFoundException'],
  ['BadRequestException', /^duplicate header\b/i, 'DuplicateHeader'],
  [
    'BadRequestException',
    /^(?:illegal|missing|malformed|nested|invalid (?:email|address|domain|header)|domain (?:contains|starts|ends)|local (?:address|part)|user ?name|message length|recipient count)\b/i,
    'InvalidMessage',
  ],
];

/** What SES's answers mean. Without a configuration set of the relay's own, trouble with one is that of the sender's identity. */
export function sesAnswers(configurationSet: string | null): readonly AnswerRow[] {
  const meaning = configurationSet === null ? 'later' : 'relay_ill';
  return [
    ...ANSWERS,
    coded('NotFoundException', meaning, '4.3.5', 'The configuration set does not exist'),
    coded('ConfigurationSetDoesNotExist', meaning, '4.3.5', 'The configuration set does not exist'),
    coded('ConfigurationSetDoesNotExistException', meaning, '4.3.5', 'The configuration set does not exist'),
    coded(
      'ConfigurationSetSendingPausedException',
      meaning,
      '4.7.0',
      'Sending is paused for the configuration set',
    ),
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

function coded(code: string, meaning: Meaning, enhanced: string, note: string): AnswerRow {
  return { status: '4xx', code, meaning, enhanced, note };
}
