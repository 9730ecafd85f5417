// biome-ignore-all lint/suspicious/noTemplateCurlyInString: edits quote the source.
/** Bugs by which people would be let in who must not be, be shown what is not theirs, or be kept although erased. */
import type { Mutant, Trap } from './mutant.ts';
import { sqlite } from './traps.ts';

export const PEOPLE: readonly Mutant[] = [
  {
    name: 'ended-meanwhile-keeps-its-contents',
    breaks:
      'A message that ends while an erasure goes on is erased with its contents: here only its recipient is.',
    edits: [
      {
        file: 'src/store/plain/erasing.ts',
        before: "if (isAbout && table === 'deliveries') continue;",
        after: "if (isAbout && table === 'nothing') continue;",
      },
    ],
    traps: [
      sqlite('erasing a person > leaves a message that ends while other tables are walked to the next look'),
    ],
  },
  {
    name: 'erased-left-in-events',
    breaks: 'No event says what others wrote of somebody who was erased.',
    edits: [
      {
        file: 'src/store/plain/erasing.ts',
        before: 'SET facts = ${withoutTexts(renamedIn(facts, person))} WHERE seq',
        after: 'SET facts = ${renamedIn(facts, person)} WHERE seq',
      },
    ],
    traps: [sqlite('erasing a person > leaves figures of her messages')],
  },
  {
    name: 'erased-left-in-later-events',
    breaks:
      'No event of what is removed while somebody is erased names her: here events are walked before the rest.',
    edits: [
      {
        file: 'src/store/erasing.ts',
        before: "table !== 'messages' && table !== 'events' &&",
        after: "table !== 'messages' &&",
      },
      { file: 'src/store/erasing.ts', before: "  'events',\n];", after: '];' },
    ],
    traps: [sqlite('erasing a person > finds her in events of what is removed meanwhile')],
  },
  {
    name: 'erased-left-in-reports',
    breaks: 'No bounce or complaint is kept that came of mail to somebody who was erased.',
    edits: [
      {
        file: 'src/store/plain/erasing.ts',
        before: "  yield* send`UPDATE feedback SET evidence = '' WHERE message = ${id}`;\n",
        after: '',
      },
    ],
    traps: [sqlite('erasing a person > empties evidence about her mail, and other evidence')],
  },
  {
    name: 'erased-left-in-replies',
    breaks: 'No reply to mail for somebody who was erased is left in the counters.',
    edits: [
      {
        file: 'src/store/plain/erasing.ts',
        before: '  if (erased.length > 0) yield* run`DELETE FROM traffic_replies',
        after: '  if (erased.length > refs.length) yield* run`DELETE FROM traffic_replies',
      },
    ],
    traps: [sqlite('erasing a person > leaves figures of her messages')],
  },
  {
    name: 'erased-left-in-base64',
    breaks: 'What is encoded names nobody who was erased, either.',
    edits: [
      {
        file: 'src/store/plain/erasing.ts',
        before: "(isAbout || names(decoded(row[name] ?? null), person))) left[name] = '';",
        after: "(isAbout || names(String(row[name] ?? ''), person))) left[name] = '';",
      },
    ],
    traps: [sqlite('erasing a person > empties evidence about her mail, and other evidence')],
  },
  {
    name: 'erased-contents-kept',
    breaks: 'The contents of mail to somebody who was erased go.',
    edits: [
      {
        file: 'src/store/plain/erasing.ts',
        before: '      if (segment !== null) segments.add(segment);\n',
        after: '',
      },
    ],
    traps: [sqlite('erasing a person > gives up the contents of her messages')],
  },
  {
    name: 'erased-written-to-again',
    breaks: 'Who asked for no more mail, and was erased, gets none.',
    edits: [
      {
        file: 'src/store/plain/suppressions.ts',
        before: '  if (plain.length === found.length) return plain;\n',
        after: '  if (plain.length <= found.length) return plain;\n',
      },
    ],
    traps: [sqlite('erasing a person > keeps her suppressed, under a keyed hash')],
  },
  {
    name: 'ended-link-opens',
    breaks: 'A link to a story shows nothing once it has ended.',
    edits: [
      {
        file: 'src/store/plain/sharing.ts',
        before: 'return (yield* links(sql`hash = ${hash} AND expires_at > ${now}`))[0] ?? null;',
        after: 'return (yield* links(sql`hash = ${hash} AND expires_at > ${now - now}`))[0] ?? null;',
      },
    ],
    traps: [
      sqlite('sharing > finds a link to a story by its token until it ends'),
      dashboard('story-links', 'links that have ended, were revoked, or never were get the same answer'),
    ],
  },
  {
    name: 'content-shown-unasked',
    breaks: 'A link shows the content only where its maker asked for that.',
    edits: [
      {
        file: 'src/dashboard/shared-stories.ts',
        before:
          '      if (!link.hasContent) return { story: told, expiresAt, content: null, showsContent: false };\n',
        after: '',
      },
    ],
    traps: [
      dashboard('story-links', 'a link shows to strangers what became of the message, and nothing else'),
    ],
  },
  {
    name: 'invitation-used-twice',
    breaks: 'A link that chooses a password works once.',
    edits: [
      {
        file: 'src/store/plain/accounts.ts',
        before: '  yield* setPassword(name, hash);\n  yield* removeLinksOf(name);\n',
        after: '  yield* setPassword(name, hash);\n',
      },
    ],
    traps: [sqlite('accounts > lets a link choose the password of its user alone')],
  },
  {
    name: 'invitation-for-another',
    breaks: 'A link chooses the password of its user alone.',
    edits: [
      {
        file: 'src/store/plain/accounts.ts',
        before: 'givePassword(link.user, passwordHash, null)',
        after: 'givePassword(name, passwordHash, null)',
      },
    ],
    traps: [sqlite('accounts > lets a link choose the password of its user alone')],
  },
  {
    name: 'sessions-outlive-the-password',
    breaks: 'Another password ends all other sessions.',
    edits: [
      {
        file: 'src/store/plain/accounts.ts',
        before: '  return yield* endSessionsOf(name, keep);\n',
        after: '  return keep === null ? [] : [];\n',
      },
    ],
    traps: [
      sqlite('accounts > sets a password only where it was not set meanwhile'),
      dashboard('access', 'another password ends every other session'),
    ],
  },
  {
    name: 'session-under-an-old-password',
    breaks: 'Whoever signs in with a password that is another by now gets no session.',
    edits: [
      {
        file: 'src/store/plain/accounts.ts',
        before: "user.disabled || user.password !== passwordHash) return { kind: 'stale' };",
        after: "user.disabled) return { kind: 'stale' };",
      },
    ],
    traps: [sqlite('sessions > opens none under a password that is another by now')],
  },
  {
    name: 'session-never-ends',
    breaks: 'A session that is not used ends.',
    edits: [
      {
        file: 'src/accounts/sessions.ts',
        before: 'now >= session.expiresAt || now - lastSeenAt >= idleMs) return null;',
        after: 'now >= session.expiresAt || idleMs < 0) return null;',
      },
    ],
    traps: [dashboard('access', 'an unused session ends after webui.session_timeout_minutes')],
  },
  {
    name: 'code-used-twice',
    breaks: 'A code of a second factor counts once.',
    edits: [
      {
        file: 'src/store/plain/accounts.ts',
        before: '(last_step IS NULL OR last_step < ${step})',
        after: '(last_step IS NULL OR last_step <= ${step})',
      },
    ],
    traps: [sqlite('accounts > takes each code of a second factor once')],
  },
  {
    name: 'passkey-copied',
    breaks: 'The count of a passkey must rise: one that does not was copied.',
    edits: [
      {
        file: 'src/accounts/passkeys.ts',
        before: 'publicKey: bytesOf(passkey.publicKey), counter: passkey.counter },',
        after: 'publicKey: bytesOf(passkey.publicKey), counter: 0 },',
      },
      {
        file: 'src/store/plain/accounts.ts',
        before: 'AND (counter < ${counter} OR (counter = 0 AND ${counter} = 0))`;',
        after: 'AND ${counter} >= 0`;',
      },
    ],
    traps: [dashboard('passkeys', 'an authenticator that counts is not copied: its count must rise')],
  },
  {
    name: 'passkey-answer-used-twice',
    breaks: 'An answer to a challenge counts once.',
    edits: [
      {
        file: 'src/store/plain/accounts.ts',
        before: '  return spent === 1;\n}\n\n/** Ends a user',
        after: '  return spent >= 0;\n}\n\n/** Ends a user',
      },
    ],
    traps: [
      sqlite('accounts > takes one answer to a challenge'),
      dashboard('passkeys', 'an answer counts once, on no other page, and for five minutes'),
    ],
  },
  {
    name: 'passkey-of-nobody-verified',
    breaks: 'A passkey is a second factor as well: its device has verified who holds it.',
    edits: [
      {
        file: 'src/accounts/passkeys.ts',
        before: 'counter: passkey.counter },\n      requireUserVerification: true,',
        after: 'counter: passkey.counter },\n      requireUserVerification: false,',
      },
    ],
    traps: [dashboard('passkeys', 'a user who was not verified signs nobody in')],
  },
  {
    name: 'token-signature-unchecked',
    breaks: 'What a provider says of somebody is signed by it.',
    edits: [
      {
        file: 'src/oidc/provider.ts',
        before: '    lib.enableNonRepudiationChecks(config);\n',
        after: '',
      },
    ],
    traps: [dashboard('provider-answers', 'the signature of a stranger signs nobody in')],
  },
  {
    name: 'token-of-another-sign-in',
    breaks:
      'A token that was not made for this sign-in signs nobody in: here the nonce is neither sent nor asked for.',
    edits: [
      {
        file: 'src/oidc/provider.ts',
        before: '        state,\n        nonce,\n',
        after: '        state,\n        nonce: nonce.slice(0, 0),\n',
      },
      { file: 'src/oidc/provider.ts', before: '        expectedNonce: begun.nonce,\n', after: '' },
    ],
    traps: [dashboard('provider-answers', 'no nonce signs nobody in')],
  },
  {
    name: 'token-for-others-taken',
    breaks: 'A token that is meant for others, too, signs nobody in.',
    edits: [
      {
        file: 'src/oidc/provider.ts',
        before: 'if (audiences.some((audience) => audience !== clientId))',
        after: 'if (audiences.every((audience) => audience !== clientId))',
      },
    ],
    traps: [dashboard('provider-answers', 'a second audience signs nobody in')],
  },
  {
    name: 'old-token-taken',
    breaks: 'What a provider said five minutes ago signs nobody in.',
    edits: [
      {
        file: 'src/oidc/provider.ts',
        before: 'if (age > MAX_AGE_MS || age < -TOLERANCE_MS)',
        after: 'if (age < -TOLERANCE_MS)',
      },
    ],
    traps: [dashboard('provider-answers', 'an age of six minutes signs nobody in')],
  },
  {
    name: 'role-not-looked-at',
    breaks: 'Who may only look does nothing.',
    edits: [
      {
        file: 'src/control/door.ts',
        before: '      if (!mayAct(actor.role, role)) {',
        after: '      if (mayAct(actor.role, role) && false) {',
      },
    ],
    traps: [{ file: 'src/control/door.test.ts', test: 'lets nobody do what their role does not allow' }],
  },
  {
    name: 'forged-request-taken',
    breaks: 'No page of another site acts in the name of whoever has the dashboard open.',
    edits: [
      {
        file: 'src/dashboard/guard.ts',
        before: '  if (said && agrees) return;\n',
        after: '  if (said || agrees) return;\n',
      },
    ],
    traps: [dashboard('forgery', 'another site: no operation is done')],
  },
  {
    name: 'act-not-recorded',
    breaks: 'What somebody changes is in the activity.',
    edits: [
      {
        file: 'src/control/door.ts',
        before: '    await record(act, await keptOf(result, before, act, deps), deps);\n',
        after: '',
      },
    ],
    traps: [
      {
        file: 'src/control/door.test.ts',
        test: 'is written down with who, from where, on what, and how it was before',
      },
    ],
  },
];

function dashboard(suite: string, test: string): Trap {
  return { file: `test/protocol/dashboard/${suite}.test.ts`, test };
}
