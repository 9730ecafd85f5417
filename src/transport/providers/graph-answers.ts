import type { AnswerRow, Meaning } from './provider.ts';

/**
 * What Graph's answers mean. Codes are those of Exchange, under whatever status of a client's error. Only 202 says that
 * the message was taken: 200 has been seen for messages that were then never sent.
 *
 * `From names the mailbox` (no mailbox is set): what is wrong with that one keeps no other from sending, and is not the
 * relay's illness.
 */
export function graphAnswers(fromNamesMailbox: boolean): readonly AnswerRow[] {
  return [
    ...TAKEN,
    ...missingMailbox(fromNamesMailbox),
    ...REFUSED,
    ...ofMailbox(fromNamesMailbox),
    ...STATUSES,
    ...TROUBLE,
  ];
}

const TAKEN: readonly AnswerRow[] = [
  { status: 202, meaning: 'done', enhanced: '2.0.0', note: 'Exchange took the message. It gives no id.' },
  {
    status: '2xx',
    meaning: 'unknown',
    enhanced: '4.3.0',
    note: 'Not what Graph answers to a message that it took: it may have been sent, or not.',
  },
  {
    status: '3xx',
    meaning: 'relay_ill',
    enhanced: '4.3.5',
    note: 'A redirect, which is not followed: correct `endpoint`.',
  },
];

function missingMailbox(fromNamesMailbox: boolean): readonly AnswerRow[] {
  const answer = fromNamesMailbox
    ? {
        meaning: 'never' as const,
        enhanced: '5.1.8',
        note: 'Without `mailbox`, From names the mailbox that sends, and this From has none.',
      }
    : {
        meaning: 'relay_ill' as const,
        enhanced: '4.3.5',
        note: 'The mailbox does not exist, or is not in Exchange Online: correct `mailbox`.',
      };
  return [
    ...MISSING_CODES.map((code): AnswerRow => ({ status: '4xx', code, ...answer })),
    fromNamesMailbox
      ? { status: 404, meaning: 'later', enhanced: '4.3.5', note: 'Not found, and not said what.' }
      : { status: 404, ...answer },
  ];
}

/** How Graph says that there is no such mailbox. */
const MISSING_CODES = [
  'MailboxNotEnabledForRESTAPI',
  'MailboxNotSupportedForRESTAPI',
  'ErrorInvalidUser',
  'ErrorNonExistentMailbox',
  'ResourceNotFound',
  'Request_ResourceNotFound',
] as const;

const REFUSED: readonly AnswerRow[] = [
  coded('ErrorInvalidRecipients', 'never', '5.1.3', 'A recipient’s address is none to Exchange.'),
  coded('ErrorMimeContentInvalid', 'never', '5.6.0', 'Exchange cannot read the message.'),
  coded('ErrorMimeContentInvalidBase64String', 'never', '5.6.0', 'Exchange cannot read the message.'),
  coded('ErrorMessageSizeExceeded', 'never', '5.3.4', 'Larger than the mailbox may send.'),
  coded(
    'ErrorSendAsDenied',
    'never',
    '5.7.1',
    'The mailbox may not send as this From: grant it “Send as”, or route this mail elsewhere.',
  ),
];

/** What is the trouble of one mailbox, and of the relay where that is its own. */
function ofMailbox(fromNamesMailbox: boolean): readonly AnswerRow[] {
  const meaning = fromNamesMailbox ? 'later' : 'relay_ill';
  const denied = coded(
    'ErrorAccessDenied',
    meaning,
    '4.7.0',
    'A policy keeps the application from this mailbox.',
  );
  return [
    ...(fromNamesMailbox ? [denied] : []),
    coded('ErrorQuotaExceeded', meaning, '4.2.2', 'The mailbox is full.'),
    coded('ErrorExceededMessageLimit', meaning, '4.2.2', SENT_ALL),
    coded('ErrorSubmissionQuotaExceeded', meaning, '4.2.2', SENT_ALL),
    coded(
      'ErrorMessageSubmissionBlocked',
      meaning,
      '4.7.0',
      'Exchange keeps the mailbox from sending: ask its administrator.',
    ),
    coded('ErrorAccountSuspend', meaning, '4.7.0', 'The account is suspended: ask its administrator.'),
    { status: 507, meaning, enhanced: '4.2.2', note: 'The mailbox is full.' },
  ];
}

const SENT_ALL = 'The mailbox has sent all that it may for now.';

const STATUSES: readonly AnswerRow[] = [
  { status: 400, meaning: 'later', enhanced: '4.6.0', note: 'Refused, and not said in known words why.' },
  {
    status: 401,
    meaning: 'relay_ill',
    enhanced: '4.7.8',
    note: 'The token is not taken; it is dropped, and a new one asked for.',
  },
  {
    status: 403,
    meaning: 'relay_ill',
    enhanced: '4.7.0',
    note: 'The application lacks the permission `Mail.Send`, or a policy keeps it from this mailbox.',
  },
  { status: 408, meaning: 'later', enhanced: '4.4.2', note: 'The request did not arrive in time.' },
  { status: 409, meaning: 'later', enhanced: '4.3.0', note: 'The mailbox was busy with something else.' },
  { status: 413, meaning: 'never', enhanced: '5.3.4', note: 'Larger than Graph takes.' },
  { status: 423, meaning: 'later', enhanced: '4.3.0', note: 'The mailbox is locked, as while it is moved.' },
  {
    status: 429,
    meaning: 'relay_ill',
    enhanced: '4.7.28',
    note: 'Too many requests; what `Retry-After` asks for is kept to.',
  },
  {
    status: '4xx',
    meaning: 'relay_ill',
    enhanced: '4.3.5',
    note: 'No answer of sendMail: correct `endpoint`.',
  },
];

const LOST = 'A gateway had no answer from Exchange, which may have sent the message all the same.';

const TROUBLE: readonly AnswerRow[] = [
  { status: 502, meaning: 'unknown', enhanced: '4.4.2', note: LOST },
  {
    status: 503,
    meaning: 'relay_ill',
    enhanced: '4.3.2',
    note: 'Overloaded or under repair; what `Retry-After` asks for is kept to.',
  },
  { status: 504, meaning: 'unknown', enhanced: '4.4.2', note: LOST },
  { status: '5xx', meaning: 'later', enhanced: '4.3.0', note: 'Trouble of Graph’s own.' },
];

function coded(code: string, meaning: Meaning, enhanced: string, note: string): AnswerRow {
  return { status: '4xx', code, meaning, enhanced, note };
}
