/** Bugs that strangers could use: what comes in, who may send, what is told. */
import type { Mutant } from './mutant.ts';
import { HISTORY } from './traps.ts';

export const BORDER: readonly Mutant[] = [
  {
    name: 'dot-stuffing-dropped',
    breaks: 'A line that begins with a dot arrives as it was, and none of them ends the message.',
    edits: [
      {
        file: 'src/smtp/command.ts',
        before: 'const framed = this.#stuff ? this.#double(chunk) : chunk;',
        after: 'const framed = chunk;',
      },
    ],
    traps: [
      { file: 'src/smtp/command.test.ts', test: 'whatever is sent is received, however it is cut' },
      {
        file: 'test/protocol/smtp-out/gate.test.ts',
        test: 'dots at the beginning of lines arrive as they were',
      },
    ],
  },
  {
    name: 'bare-newline-accepted',
    breaks: 'A bare CR or LF is refused: other servers read other lines in it.',
    edits: [
      {
        file: 'src/smtp/receiver/content-scanner.ts',
        before: "if (this.#rules.bareNewline === 'reject') this.#hasBareNewline = true;",
        after: '',
      },
    ],
    traps: [
      {
        file: 'src/smtp/receiver/content-scanner.test.ts',
        test: 'strict content is taken exactly when it has no bare CR, bare LF and NUL',
      },
      {
        file: 'test/protocol/smtp-in/content.test.ts',
        test: 'a bare LF is refused at the end of the content',
      },
    ],
  },
  {
    name: 'message-smuggled',
    breaks: 'Only CRLF.CRLF ends a message: here LF.CRLF does, and what follows is a second one.',
    edits: [
      {
        file: 'src/smtp/receiver/content-scanner.ts',
        before: '    if (this.#place === PLACE.bareDotCr) return this.#loneDot(at + 1, PLACE.start);\n',
        after: '',
      },
    ],
    traps: [{ file: 'test/protocol/smtp-in/end-of-data.test.ts', test: 'is refused' }],
  },
  {
    name: 'header-injected',
    breaks: 'No field of a submission ends its header field: a CR or LF in it is refused.',
    edits: [
      {
        file: 'src/mail/field.ts',
        before: 'const LINE_ENDING = /[\\r\\n\\0]/;',
        after: 'const LINE_ENDING = /\\0/;',
      },
    ],
    traps: [
      { file: 'src/mail/headers.test.ts', test: 'X-A: "a\\rb"' },
      { file: 'test/protocol/http/submit-content.test.ts', test: 'with a line break or NUL is refused' },
    ],
  },
  {
    name: 'open-relay',
    breaks: 'Strangers may not relay.',
    edits: [
      {
        file: 'src/ingest/smtp/policy.ts',
        before: 'return !allowed && key === null;',
        after: 'return allowed && key === null;',
      },
    ],
    traps: [
      {
        file: 'src/ingest/smtp/policy.test.ts',
        test: 'who is hidden behind a proxy gets nothing that the proxy may have',
      },
      {
        file: 'test/protocol/smtp-listener/strangers.test.ts',
        test: 'a large message of a stranger is refused at MAIL',
      },
    ],
  },
  {
    name: 'cidr-prefix-ignored',
    breaks: 'A range lets in who is in it: here only its first byte is compared.',
    edits: [
      {
        file: 'src/lib/network.ts',
        before: 'return network.every((byte, i) => byte === ((address[i] ?? 0) & byteMask(bits, i)));',
        after: 'return network[0] === ((address[0] ?? 0) & byteMask(bits, 0));',
      },
    ],
    traps: [{ file: 'src/lib/network.test.ts', test: '172.16.0.0/12 and 172.32.0.0: false' }],
  },
  {
    name: 'revoked-key-accepted',
    breaks: 'A revoked key opens nothing.',
    edits: [
      {
        file: 'src/domain/key.ts',
        before: "if (key.revokedAt !== null && key.revokedAt <= now) return 'revoked';",
        after: '',
      },
    ],
    traps: [
      { file: 'test/protocol/smtp-listener/auth.test.ts', test: 'a key that is refused > which is revoked' },
      {
        file: 'test/protocol/http/keys.test.ts',
        test: 'every key that is not accepted gets one and the same answer',
      },
    ],
  },
  {
    name: 'key-half-read',
    breaks: 'The whole key counts: here its first 20 characters do.',
    edits: [
      {
        file: 'src/lib/id.ts',
        before: "createHash('sha256').update(secret).digest('hex')",
        after: "createHash('sha256').update(secret.slice(0, 20)).digest('hex')",
      },
    ],
    traps: [
      {
        file: 'test/protocol/http/keys.test.ts',
        test: 'two keys that differ in their last characters open different things',
      },
      {
        file: 'test/protocol/http/providers/mailgun.test.ts',
        test: 'a key that differs from a good one in its last characters is refused',
      },
      {
        file: 'test/protocol/smtp-listener/auth.test.ts',
        test: 'a key that differs from a good one in its last characters is refused',
      },
    ],
  },
  {
    name: 'tls-unverified',
    breaks: 'A relay’s certificate is verified: here any will do.',
    edits: [
      {
        file: 'src/transport/smtp/open.ts',
        before: "rejectUnauthorized: trust.kind === 'name'",
        after: 'rejectUnauthorized: false',
      },
    ],
    traps: [
      {
        file: 'test/protocol/smtp-out/tls.test.ts',
        test: 'required > a certificate that is self-signed is not taken',
      },
    ],
  },
  {
    name: 'starttls-stripped',
    breaks: 'Where TLS is required nothing is said in clear, although STARTTLS is not offered.',
    edits: [
      {
        file: 'src/smtp/opening.ts',
        before: `    return tls === 'opportunistic'
      ? this.#authenticate()`,
        after: `    return tls !== 'implicit'
      ? this.#authenticate()`,
      },
    ],
    traps: [
      {
        file: 'test/protocol/smtp-out/tls.test.ts',
        test: 'required: a server without STARTTLS gets nothing',
      },
    ],
  },
  {
    name: 'starttls-injected',
    breaks: 'What a client said before TLS counts no longer behind it.',
    edits: [
      {
        file: 'src/smtp/receiver/receiver.ts',
        before: `    this.#input.clear();
    this.#lines.clear();
    this.#transactions.reset();
    this.#hello = null;`,
        after: '',
      },
    ],
    traps: [
      {
        file: 'test/protocol/smtp-in/tls-auth.test.ts',
        test: 'STARTTLS drops what is pipelined behind it and begins anew',
      },
      {
        file: 'test/protocol/smtp-listener/tls.test.ts',
        test: 'plaintext behind STARTTLS is dropped, in the same packet',
      },
    ],
  },
  {
    name: 'secret-in-the-log',
    breaks: 'No line of the log holds a password, right or wrong.',
    edits: [
      {
        file: 'src/ingest/smtp/key-check.ts',
        before: "`, 535, '5.7.8', NEEDS_KEY);",
        after: "` + credentials.password, 535, '5.7.8', NEEDS_KEY);",
      },
    ],
    traps: [
      {
        file: 'test/protocol/smtp-listener/auth.test.ts',
        test: 'whether the key is right, wrong, revoked or torn',
      },
    ],
  },
  {
    name: 'secret-in-the-evidence',
    breaks: 'What a server repeats of our password is in no record of the attempt.',
    edits: [
      {
        file: 'src/transport/smtp/open.ts',
        before: "verb === 'auth' ? withoutSecrets(raw, this.#destination.credentials) : raw;",
        after: "verb === 'auth' ? withoutSecrets(raw, null) : raw;",
      },
    ],
    traps: [{ file: 'test/protocol/smtp-out/auth.test.ts', test: 'what was sent is in no record' }],
  },
  {
    name: 'hook-of-another-relay-believed',
    breaks: 'An id is the relay’s that gave it: here what another relay tells of it is believed.',
    edits: [
      {
        file: 'src/store/sqlite/telling.ts',
        before: 'step.relay === null || relay === step.relay ? [{ id, index }] : [],',
        after: 'step.relay !== undefined || relay === step.relay ? [{ id, index }] : [],',
      },
    ],
    traps: [HISTORY],
  },
  {
    name: 'requiretls-promised-by-nobody',
    breaks: 'Mail that demands TLS all the way goes only to a relay that promises it.',
    edits: [
      {
        file: 'src/smtp/sender.ts',
        before: "if (requireTls && !this.#capabilities.requireTls && envelope.reversePath !== '')",
        after: "if (requireTls && !this.#capabilities.requireTls && envelope.reversePath === '')",
      },
    ],
    traps: [{ file: 'test/protocol/smtp-out/require-tls.test.ts', test: 'that promises nothing' }],
  },
  {
    name: 'requiretls-over-a-loose-session',
    breaks: 'Nor is anything said of it over a session that is less safe than that.',
    edits: [
      {
        file: 'src/transport/smtp/smtp.ts',
        before: "const demands = job.tls === 'required';",
        after: "const demands = job.tls === 'required' && job.tls === undefined;",
      },
    ],
    traps: [{ file: 'test/protocol/smtp-out/require-tls.test.ts', test: 'without STARTTLS' }],
  },
  {
    name: 'secret-in-clear',
    breaks: 'No password and no token goes over a connection that is not encrypted.',
    edits: [
      {
        file: 'src/smtp/opening.ts',
        before: '    if (!this.#secured)\n      return failed(',
        after: "    if (!this.#secured && what === '')\n      return failed(",
      },
    ],
    traps: [
      {
        file: 'test/protocol/smtp-out/auth.test.ts',
        test: 'no password goes over a connection in clear',
      },
    ],
  },
  {
    name: 'revoked-token-kept',
    breaks: 'A token that the relay no longer takes is replaced.',
    edits: [{ file: 'src/transport/smtp/open.ts', before: '    tokens.drop(first);\n', after: '' }],
    traps: [
      {
        file: 'test/protocol/smtp-out/oauth-token.test.ts',
        test: 'that is refused by a 535 is given up, and one request brings all connections another',
      },
    ],
  },
  {
    name: 'report-bomb',
    breaks: 'An archive of a few bytes does not fill the memory.',
    edits: [
      {
        file: 'src/reports/unpack.ts',
        before: 'await inflated(entry.data, { maxOutputLength });',
        after: 'await inflated(entry.data, { maxOutputLength: 20 * maxOutputLength });',
      },
    ],
    traps: [{ file: 'src/reports/unpack.test.ts', test: 'a bomb in zip ends at the limit' }],
  },
  {
    name: 'connections-counted-by-thread',
    breaks: 'A source has as many connections as it may over all threads together: here one more.',
    edits: [
      {
        file: 'src/threads/ingest/shared-counts.ts',
        before: 'if (Atomics.add(this.#counts, place, 1) < most) return true;',
        after: 'if (Atomics.add(this.#counts, place, 1) <= most) return true;',
      },
    ],
    traps: [
      {
        file: 'src/threads/ingest/shared-counts.test.ts',
        test: 'a source has as many as it may, whichever thread it comes to, and not one more',
      },
    ],
  },
  {
    name: 'mark-of-a-file-guessed',
    breaks: 'What stands for a large attachment while a body is read cannot be written by a client.',
    edits: [
      {
        file: 'src/ingest/http/large-files.ts',
        before: 'Buffer.from(random.fill(new Uint8Array(MARK_BYTES)))',
        after: "Buffer.alloc(MARK_BYTES, 'waybill file')",
      },
    ],
    traps: [
      {
        file: 'src/ingest/http/large-files.test.ts',
        test: 'does not stand for what was cut from a text',
      },
    ],
  },
];
