import { localPostmaster, serverName } from '../config/names.ts';
import type { Config } from '../config/schema.ts';
import type { Attempt, Evidence } from '../domain/attempt.ts';
import { isFinal } from '../domain/delivery.ts';
import type { Reply } from '../domain/outcome.ts';
import { INBOX, type Relay } from '../domain/relay.ts';
import { handOver } from '../ingest/http/hand-over.ts';
import { RateLimiter } from '../ingest/rate.ts';
import { formatTimestamp } from '../lib/clock.ts';
import { createTokenSource } from '../lib/id.ts';
import { OperationError } from '../operations/call.ts';
import { type Progress, UNWATCHED } from '../operations/operation.ts';
import type { RequestOf } from '../operations/table.ts';
import type { TestMessage, TestMessageOperations, TestMessageStep } from '../operations/test-messages.ts';
import type { MessageDetail } from '../store/views.ts';
import type { LocalDeps } from './deps.ts';
import { compose, orOperationError } from './messages.ts';
import { wayOf } from './outlook.ts';
import { noSuchRelay } from './relay-views.ts';

/** How long an outcome is waited for. */
const WAIT_MS = 60_000;
/** How often the message is looked at meanwhile: another node may deliver it. */
const LOOK_MS = 200;
/** Test messages of all relays in a minute, of this node. */
const MAX_A_MINUTE = 10;
/** More attempts than one wait sees. */
const MAX_ATTEMPTS = 20;

/** What they need. */
type TestMessageDeps = Pick<
  LocalDeps,
  'views' | 'intake' | 'templates' | 'resolution' | 'queue' | 'running' | 'server' | 'clock' | 'random'
>;

/** See {@link TestMessageOperations}. */
export function testMessageOperations(deps: TestMessageDeps): TestMessageOperations {
  const nextToken = createTokenSource(deps.clock, deps.random);
  const rate = new RateLimiter({ maxWindows: 1 });
  return {
    sendTestMessage: async (request, progress = UNWATCHED) => {
      const relay = relayFor(request.name, deps);
      const verdict = rate.take('', 'send', MAX_A_MINUTE, deps.clock.mono());
      if (verdict?.allowed === false)
        throw new OperationError(
          'refused',
          `There are at most ${MAX_A_MINUTE} test messages in a minute. Try again in ${verdict.resetSeconds} s.`,
        );
      const began = deps.clock.mono();
      const { id, text } = await send(request, relay, nextToken(), deps);
      return await new Story(id, began, deps, progress).follow(text);
    },
  };
}

/** Whom a test message through a relay comes from, unless somebody else is named. */
export function testSender(
  { smtp }: Pick<Relay, 'smtp'>,
  config: Pick<Config, 'server'> & { readonly domains: readonly Pick<Config['domains'][number], 'name'>[] },
): string {
  // Many providers accept mail only from the mailbox that signs in.
  if (smtp?.username?.includes('@')) return smtp.username;
  const [domain] = config.domains;
  return domain === undefined ? localPostmaster(config) : `postmaster@${domain.name}`;
}

/** The relay, if a message for it would be sent. Throws `OperationError`. */
function relayFor(name: string, { resolution, server, running }: TestMessageDeps): Relay {
  const relay = resolution().config.relays.find((one) => one.name === name);
  if (relay === undefined) throw noSuchRelay(name);
  if (name === INBOX)
    throw new OperationError('invalid', 'The inbox captures mail and sends none: name a relay that sends.');
  if (relay.disabled)
    throw new OperationError(
      'refused',
      `The relay ${name} is disabled: mail for it would only wait. Enable it first: waybill relays enable ${name}`,
    );
  if (!running)
    throw new OperationError(
      'unavailable',
      'No server is running that could send it. Start it: waybill serve',
    );
  if (server()?.capturesAll)
    throw new OperationError('refused', 'This server captures all mail (waybill dev): nothing is sent.');
  return relay;
}

async function send(
  { name, to, from = null }: RequestOf<'sendTestMessage'>,
  relay: Relay,
  token: string,
  deps: TestMessageDeps,
): Promise<{ readonly id: string; readonly text: string }> {
  const { config } = deps.resolution();
  const sender = from ?? testSender(relay, config);
  const server = serverName(config);
  const message = {
    from: sender,
    to: [to],
    subject: `Test message through ${name}`,
    text: `This is a test message. Waybill on ${server} sent it through its relay ${name}, to see whether it arrives.\n\nThere is nothing to be done about it.\n`,
    // RFC 3834: no vacation message answers it.
    headers: { 'Auto-Submitted': 'auto-generated' },
    tags: ['relay-test'],
  };
  const submission = await compose(message, token, deps);
  const { id } = await orOperationError(handOver({ ...submission, via: name }, deps));
  return { id, text: `As ${id}, from ${sender} to ${to}.` };
}

/** What happens to a message, told as it happens. */
class Story {
  readonly #id: string;
  readonly #began: number;
  readonly #deps: TestMessageDeps;
  readonly #progress: Progress<TestMessageStep>;
  readonly #steps: TestMessageStep[] = [];
  #attempts = 0;

  constructor(id: string, began: number, deps: TestMessageDeps, progress: Progress<TestMessageStep>) {
    this.#id = id;
    this.#began = began;
    this.#deps = deps;
    this.#progress = progress;
  }

  /** Waits until something has come of it, at most {@link WAIT_MS}, or until nobody waits any more. */
  async follow(accepted: string): Promise<TestMessage> {
    const { views, clock } = this.#deps;
    const { signal } = this.#progress;
    this.#tell('ACCEPTED', accepted);
    for (;;) {
      const detail = await views.message(this.#id);
      if (detail !== null) await this.#tellAttempts(detail);
      const status = detail?.message.status ?? 'queued';
      const isOver = clock.mono() - this.#began >= WAIT_MS;
      if (detail !== null && this.#tellEnd(detail, isOver)) return this.#end(status);
      if (isOver || signal.aborted) return this.#end(status);
      await clock.sleep(LOOK_MS, signal);
    }
  }

  /** Tells of attempts that have ended since the last look. */
  async #tellAttempts({ recipients: [recipient] }: MessageDetail): Promise<void> {
    if (recipient === undefined || recipient.attempts === this.#attempts) return;
    const range = { after: this.#attempts, limit: MAX_ATTEMPTS };
    const { attempts } = await this.#deps.views.attempts(this.#id, range);
    for (const attempt of attempts) this.#tellAttempt(attempt);
    this.#attempts += attempts.length;
  }

  #tellAttempt({ relay, evidence, results: [result] }: Attempt): void {
    if (result === undefined) return;
    const { kind, reply } = result.outcome;
    this.#tell('ATTEMPT', `By ${relay}, ${reachedText(evidence)}.`);
    if (kind === 'delivered') this.#tell('DELIVERED', replyText(reply));
    else this.#tell(kind === 'deferred' ? 'RETRYING' : 'FAILED', replyText(reply), { code: reply.cause });
  }

  /** Whether there is nothing more to wait for. Tells what the attempts have not. */
  #tellEnd({ message, recipients: [recipient] }: MessageDetail, isOver: boolean): boolean {
    if (recipient === undefined) return true;
    const { state, outcome, lastReply, dueAt } = recipient;
    if (isFinal(state)) {
      const said = this.#steps.some(({ name }) => name === 'DELIVERED' || name === 'FAILED');
      const why =
        outcome === 'suppressed' ? 'The address is on the suppression list: nothing was sent.' : null;
      if (!said)
        this.#tell('FAILED', why ?? lastReply ?? `It ended as ${outcome}.`, { code: outcome ?? 'failed' });
      return true;
    }
    if (message.status === 'retrying') {
      const until = dueAt === null ? {} : { until: formatTimestamp(dueAt) };
      this.#tell('WAITING', `It is tried again at ${until.until ?? 'another time'}.`, until);
      return true;
    }
    const [obstacle] = wayOf(recipient, this.#deps).waits;
    if (obstacle !== undefined) {
      this.#tell('WAITING', `It waits: ${obstacle.what}.`, { code: 'waiting' });
      return true;
    }
    if (isOver)
      this.#tell(
        'WAITING',
        `Nothing has come of it within ${WAIT_MS / 1000} s. It goes on by itself; the message shows how.`,
        { code: 'timeout' },
      );
    return isOver;
  }

  /** With a code, it is a step that failed. */
  #tell(name: string, detail: string, more: Pick<TestMessageStep, 'code' | 'until'> = {}): void {
    const atMs = Math.round(this.#deps.clock.mono() - this.#began);
    const step = { id: this.#id, name, ok: more.code === undefined, detail, atMs, ...more };
    this.#steps.push(step);
    this.#progress.tell(step);
  }

  #end(status: TestMessage['status']): TestMessage {
    return { id: this.#id, status, steps: this.#steps };
  }
}

/** Whom an attempt reached, and how. */
function reachedText({ host, address, tls, security }: Evidence): string {
  if (host === null) return 'which reached nobody';
  const named = address === null || address === host ? host : `${host} [${address}]`;
  if (tls === null) return `to ${named}, without TLS`;
  const isChecked = security?.verdict === 'verified' || security?.verdict === 'dane';
  return `to ${named}, ${tls.split(' ')[0]}${isChecked ? ', certificate checked' : ''}`;
}

/** A reply with its codes, as the peer wrote it. */
function replyText({ code, enhanced, text }: Reply): string {
  return [code, enhanced, text].filter((part) => part !== null && part !== '').join(' ');
}
