/** One connection to the SMTP sink: reads commands and content, asks the script, answers. */
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { EXCHANGE_REFUSED, EXCHANGE_TAKEN } from './oauth-documents.ts';
import { ChunkReader, ContentReader } from './smtp-sink-content.ts';
import {
  isCommandVerb,
  type SessionView,
  SINK_EXTENSIONS,
  type SinkAction,
  type SinkOwner,
  type SinkVerb,
} from './smtp-sink-script.ts';

const NOTHING: Buffer = Buffer.alloc(0);
const READ_AHEAD_BYTES = 64 * 1024;
const HOSTNAME = 'sink.example';

/** See the file's head. */
export class SinkSession implements SessionView {
  readonly number: number;
  tls: boolean;
  user: string | null = null;
  from: string | null = null;
  to: string[] = [];
  messages = 0;
  readonly #sink: SinkOwner;
  readonly #raw: Socket;
  #socket: Socket;
  #input: Buffer = NOTHING;
  #output = '';
  #content: ContentReader | null = null;
  /** A content by BDAT; kept from chunk to chunk. */
  #chunks: ChunkReader | null = null;
  #inChunk = false;
  #contentBegun = false;
  /** Takes the next line instead of the command reader (AUTH's answers). */
  #lineReader: ((line: string) => void) | null = null;
  #paused = false;

  constructor(sink: SinkOwner, socket: Socket, number: number) {
    this.#sink = sink;
    this.#raw = socket;
    this.#socket = socket;
    this.number = number;
    this.tls = sink.options.tls === 'implicit';
  }

  /** Greets. */
  start(): void {
    this.#raw.on('error', () => {});
    if (this.tls) this.#secure();
    else this.#listen(this.#raw);
    this.#perform('CONNECT', '', () => `220 ${HOSTNAME} ESMTP sink`);
    this.#flush();
  }

  /** Ends the connection with RST. */
  cut(): void {
    // A socket that has ended cannot be reset any more: it would never close.
    if (this.#socket.writableEnded) this.#raw.destroy();
    else this.#raw.resetAndDestroy();
  }

  #listen(socket: Socket): void {
    this.#socket = socket;
    socket.on('data', (chunk) => {
      this.#input = this.#input.length === 0 ? chunk : Buffer.concat([this.#input, chunk]);
      // While it waits it reads on, so that it sees the client leave, but not without end.
      if (this.#paused && this.#input.length > READ_AHEAD_BYTES) socket.pause();
      this.#run();
    });
  }

  #secure(): void {
    const context = this.#sink.secureContext;
    if (!context) throw new Error('a sink with TLS has a certificate');
    const secure = new TLSSocket(this.#raw, { isServer: true, secureContext: context });
    secure.on('error', () => this.#raw.destroy());
    secure.on('secure', () => this.#sink.serverNames.push(secure.servername ?? false));
    this.#listen(secure);
  }

  /** Works off what has come, until it is used up or the script makes us wait. */
  #run(): void {
    while (!this.#paused && this.#input.length > 0) {
      if (!this.#readOn()) break;
    }
    this.#flush();
    this.#sink.noticed();
  }

  #readOn(): boolean {
    if (this.#inChunk && this.#chunks) return this.#readChunk(this.#chunks);
    return this.#content ? this.#readContent(this.#content) : this.#readLine();
  }

  #readLine(): boolean {
    const end = this.#input.indexOf(10);
    if (end < 0) return false;
    const line = this.#input.toString('utf8', 0, end).replace(/\r$/, '');
    this.#input = this.#input.subarray(end + 1);
    this.#sink.heard(this.number, line);
    const reader = this.#lineReader;
    this.#lineReader = null;
    if (reader) reader(line);
    else this.#command(line);
    return true;
  }

  #command(line: string): void {
    const space = line.indexOf(' ');
    const verb = (space < 0 ? line : line.slice(0, space)).toUpperCase();
    const argument = space < 0 ? '' : line.slice(space + 1);
    if (isCommandVerb(verb)) this.#perform(verb, argument, () => this.#faithful(verb, argument));
    else this.#say('500 5.5.2 unknown command');
  }

  /** What a good server does; the effects of a 2xx happen in {@link #settleReply}. */
  #faithful(verb: SinkVerb, argument: string): SinkAction {
    switch (verb) {
      case 'EHLO':
        return multiline(250, [HOSTNAME, ...this.#keywords()]);
      case 'STARTTLS':
        return this.#startTlsOffered() ? '220 2.0.0 go ahead' : '502 5.5.1 no STARTTLS here';
      case 'AUTH':
        return this.#auth(argument);
      case 'MAIL':
        return this.from === null ? '250 2.1.0 ok' : '503 5.5.1 nested MAIL';
      case 'RCPT':
        return this.from === null ? '503 5.5.1 MAIL first' : '250 2.1.5 ok';
      case 'DATA':
        if (this.from === null) return '503 5.5.1 MAIL first';
        return this.to.length === 0 ? '554 5.5.1 no valid recipients' : '354 go on';
      case 'BDAT':
        return this.from === null || this.to.length === 0 ? '503 5.5.1 MAIL and RCPT first' : {};
      case 'CHUNK':
        return `250 2.0.0 ${argument} octets received`;
      case 'QUIT':
        return { reply: '221 2.0.0 bye', close: 'end' };
      case 'CONTENT':
        return {};
      case 'DOT':
        return `250 2.0.0 Ok: queued as sink-${this.number}-${argument}`;
      default:
        return '250 2.0.0 ok';
    }
  }

  /** What AUTH offers, where it is offered now. */
  #mechanisms(): string[] {
    const { users, bearer, tls } = this.#sink.options;
    if (!this.tls && tls === 'starttls') return [];
    return [...(users ? ['PLAIN', 'LOGIN'] : []), ...(bearer ? (bearer.mechanisms ?? ['XOAUTH2']) : [])];
  }

  #keywords(): string[] {
    const words = [...(this.#sink.options.extensions ?? SINK_EXTENSIONS)];
    if (this.#startTlsOffered()) words.push('STARTTLS');
    const mechanisms = this.#mechanisms();
    if (mechanisms.length > 0) words.push(['AUTH', ...mechanisms].join(' '));
    return words;
  }

  #startTlsOffered(): boolean {
    return this.#sink.options.tls === 'starttls' && !this.tls;
  }

  #auth(argument: string): SinkAction {
    const [mechanism, initial] = argument.split(' ');
    if (mechanism?.toUpperCase() === 'PLAIN') {
      if (initial !== undefined) return this.#checkPlain(initial);
      this.#lineReader = (line) => this.#say(this.#checkPlain(line));
      return '334 ';
    }
    if (mechanism?.toUpperCase() === 'LOGIN') {
      this.#lineReader = (name) => {
        this.#lineReader = (password) => this.#say(this.#check(decode(name), decode(password)));
        this.#say('334 UGFzc3dvcmQ6');
      };
      return '334 VXNlcm5hbWU6';
    }
    if (mechanism !== undefined && this.#mechanisms().includes(mechanism.toUpperCase())) {
      if (initial !== undefined) return this.#checkBearer(initial);
      this.#lineReader = (line) => this.#say(this.#checkBearer(line));
      return '334 ';
    }
    return '504 5.5.4 mechanism unknown';
  }

  /** `user=NAME^Aauth=Bearer TOKEN^A^A`, or RFC 7628's `n,a=NAME,^A…^Aauth=Bearer TOKEN^A^A`. */
  #checkBearer(response: string): string {
    const { bearer } = this.#sink.options;
    const [, user = '', token = ''] =
      /^(?:user=([^\x01]*)|n,a=(?:[^,]*),)\x01(?:.*\x01)?auth=Bearer ([^\x01]*)\x01\x01$/s.exec(
        decode(response),
      ) ?? [];
    const name = user || (/^n,a=([^,]*),/.exec(decode(response))?.[1] ?? '');
    if (bearer?.takes(name, token)) {
      this.user = name;
      return EXCHANGE_TAKEN;
    }
    const refusal = bearer?.refusal ?? EXCHANGE_REFUSED;
    if (bearer?.challenge === undefined) return refusal;
    // Only who acknowledges it is told the rest.
    this.#lineReader = (line) =>
      this.#say(line === '' || line === 'AQ==' ? refusal : '501 5.5.2 not an acknowledgement');
    return `334 ${Buffer.from(bearer.challenge).toString('base64')}`;
  }

  #checkPlain(response: string): string {
    const [, name = '', password = ''] = decode(response).split('\0');
    return this.#check(name, password);
  }

  #check(name: string, password: string): string {
    if (this.#sink.options.users?.[name] !== password) return '535 5.7.8 wrong name or password';
    this.user = name;
    return '235 2.7.0 welcome';
  }

  #readContent(reader: ContentReader): boolean {
    if (!this.#contentBegun) {
      this.#contentBegun = true;
      this.#perform('CONTENT', '', () => this.#faithful('CONTENT', ''));
      if (this.#paused) return false;
    }
    const used = reader.push(this.#input);
    this.#input = used === null ? NOTHING : this.#input.subarray(used);
    if (used === null) return false;
    this.messages++;
    const number = String(this.messages);
    this.#perform('DOT', number, () => this.#faithful('DOT', number));
    return true;
  }

  #readChunk(reader: ChunkReader): boolean {
    this.#input = this.#input.subarray(reader.push(this.#input));
    if (!reader.isComplete) return false;
    this.#endChunk(reader);
    return true;
  }

  #endChunk(reader: ChunkReader): void {
    this.#inChunk = false;
    if (reader.isLast) this.messages++;
    const verb = reader.isLast ? 'DOT' : 'CHUNK';
    const argument = String(reader.isLast ? this.messages : reader.content().length);
    this.#perform(verb, argument, () => this.#faithful(verb, argument));
  }

  /** Does what the script says at a verb, else what `faithful` says. */
  #perform(verb: SinkVerb, argument: string, faithful: () => SinkAction): void {
    const scripted = this.#sink.script[verb];
    const chosen = typeof scripted === 'function' ? scripted({ verb, argument, session: this }) : scripted;
    const action = chosen ?? faithful();
    if (typeof action === 'object' && action.after) {
      this.#paused = true;
      void action.after.then(() => {
        this.#paused = false;
        this.#socket.resume();
        this.#act(verb, argument, action);
        this.#run();
      });
    } else {
      this.#act(verb, argument, action);
    }
  }

  #act(verb: SinkVerb, argument: string, action: SinkAction): void {
    const { reply, endless, close, drip } = typeof action === 'string' ? { reply: action } : action;
    if (endless) {
      this.#sayForEver(`${reply ?? ''}\r\n`);
      return;
    }
    if (drip) {
      void this.#drip(`${reply ?? ''}\r\n`, drip);
      return;
    }
    if (reply !== undefined) this.#say(reply);
    this.#settleReply(verb, argument, reply ?? '');
    if (close) this.#paused = true;
    if (close === 'end') this.#socket.end(this.#takeOutput());
    if (close === 'reset') this.#socket.write(this.#takeOutput(), () => this.#raw.resetAndDestroy());
  }

  /** What an answer means for the session. */
  #settleReply(verb: SinkVerb, argument: string, reply: string): void {
    const good = reply.startsWith('2');
    if (verb === 'MAIL' && good) this.from = argument.replace(/^from:/i, '');
    if (verb === 'RCPT' && good) this.to.push(/<([^>]*)>/.exec(argument)?.[1] ?? argument);
    if (verb === 'DATA' && reply.startsWith('3')) this.#beginContent();
    if (verb === 'BDAT' && reply === '') this.#beginChunk(argument);
    if (verb === 'DOT') this.#endContent(good || reply === '');
    if ((verb === 'RSET' || verb === 'EHLO' || verb === 'HELO') && good) this.#forget();
    if (verb === 'STARTTLS' && good) this.#startTls();
  }

  #startTls(): void {
    // A script may say yes where there is no TLS: the handshake then waits for ever.
    if (!this.#startTlsOffered()) {
      this.#paused = true;
      return;
    }
    this.#socket.write(this.#takeOutput());
    this.#raw.removeAllListeners('data');
    this.#input = NOTHING;
    this.tls = true;
    this.#secure();
  }

  #beginContent(): void {
    this.#content = new ContentReader((this.#sink.options.keep ?? 'all') === 'all');
    this.#contentBegun = false;
  }

  #beginChunk(argument: string): void {
    const reader = this.#chunks ?? new ChunkReader((this.#sink.options.keep ?? 'all') === 'all');
    this.#chunks = reader;
    this.#inChunk = true;
    reader.announce(argument);
    if (reader.isComplete) this.#endChunk(reader);
  }

  #endContent(taken: boolean): void {
    const reader = this.#content ?? this.#chunks;
    const kept = (this.#sink.options.keep ?? 'all') === 'all' ? reader?.content() : undefined;
    const { number: session, tls, user, from, to } = this;
    this.#sink.record({ session, tls, user, from: from ?? '', to, content: kept ?? NOTHING, taken });
    this.#content = null;
    this.#forget();
  }

  #forget(): void {
    this.from = null;
    this.to = [];
    this.#chunks = null;
  }

  #say(reply: string): void {
    this.#output += `${reply}\r\n`;
  }

  #takeOutput(): string {
    const output = this.#output;
    this.#output = '';
    return output;
  }

  #flush(): void {
    if (this.#output !== '' && this.#socket.writable) this.#socket.write(this.#takeOutput());
  }

  async #drip(text: string, wait: () => Promise<unknown>): Promise<void> {
    this.#paused = true;
    this.#flush();
    for (const byte of text) {
      await wait();
      if (!this.#socket.writable) return;
      this.#socket.write(byte, 'latin1');
    }
  }

  #sayForEver(line: string): void {
    this.#paused = true;
    const more = () => {
      if (this.#socket.writable) this.#socket.write(line.repeat(64), (error) => error ?? more());
    };
    more();
  }
}

function multiline(code: number, lines: readonly string[]): string {
  return lines.map((line, i) => `${code}${i < lines.length - 1 ? '-' : ' '}${line}`).join('\r\n');
}

function decode(base64: string): string {
  return Buffer.from(base64, 'base64').toString();
}
