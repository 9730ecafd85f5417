/** What prevents an answer to a request, in an operator's terms. */
import { localReply, type Reply } from '../../domain/outcome.ts';
import { errorCode } from '../../lib/error.ts';
import { noTlsText } from '../tls-words.ts';

/** A failure before there was an answer. */
export class Trouble extends Error {
  /** The answer to record. */
  readonly reply: Reply;

  constructor(reply: Reply, options?: ErrorOptions) {
    super(reply.text, options);
    this.name = 'Trouble';
    this.reply = reply;
  }
}

/** We were told to stop. */
export const ABORTED: Reply = localReply('aborted', '4.3.2', 'The attempt was stopped');

/** The lease was lost, or the message cancelled, before anything was sent. */
export const LEASE_LOST: Reply = localReply(
  'lease_lost',
  '4.3.0',
  'The message was cancelled, or its lease lost, before it was sent',
);

/** The name has no address. */
export function dnsTrouble(host: string, error: unknown): Trouble {
  const text = `The name ${host} could not be resolved (${errorCode(error) ?? 'unknown error'})`;
  return trouble('dns_failed', '4.4.3', text, error);
}

/** All its addresses are private, or this machine's. */
export function privateTrouble(host: string, address: string): Trouble {
  const where = host === address ? host : `${host} is ${address}, which`;
  return trouble(
    'private_address',
    '4.7.1',
    `${where} is not a public address; connecting to it is not allowed`,
  );
}

/** Its URL is not HTTPS. */
export function plainTrouble(host: string): Trouble {
  return trouble('plain_http', '4.7.1', `The connection to ${host} would be in clear, which is not allowed`);
}

/** No connection was made. */
export function connectTrouble(where: string, error: unknown): Trouble {
  const code = errorCode(error) ?? 'unknown error';
  if (code === 'ECONNREFUSED')
    return trouble('connect_refused', '4.4.1', `${where} refuses connections`, error);
  if (code === 'ETIMEDOUT') return trouble('timeout_connect', '4.4.1', `${where} does not answer`, error);
  return trouble('connect_failed', '4.4.1', `${where} cannot be reached (${code})`, error);
}

/** The handshake failed, or the certificate is not valid. */
export function tlsTrouble(host: string, error: unknown): Trouble {
  return trouble('tls_failed', '4.7.5', noTlsText(host, error), error);
}

export function timeoutTrouble(step: string, host: string, ms: number): Trouble {
  return trouble(`timeout_${step}`, '4.4.2', `${host} did not complete ${step} within ${ms} ms`);
}

/** The connection ended, or its bytes were not HTTP. */
export function lostTrouble(host: string, error: unknown): Trouble {
  const code = errorCode(error) ?? 'unknown error';
  if (code.startsWith('HPE_') || code === 'UND_ERR_HEADERS_OVERFLOW')
    return trouble('bad_answer', '4.5.0', `${host} sent an invalid answer (${code})`, error);
  return trouble('connection_lost', '4.4.2', `The connection with ${host} was lost (${code})`, error);
}

/** The answer has no end. */
export function overlongTrouble(host: string, bytes: number): Trouble {
  return trouble('bad_answer', '4.5.0', `${host} sent more than ${bytes} bytes, and no answer`);
}

/** We were told to stop. */
export function abortTrouble(): Trouble {
  return new Trouble(ABORTED);
}

function trouble(cause: string, enhanced: string, text: string, error?: unknown): Trouble {
  return new Trouble(localReply(cause, enhanced, text), { cause: error });
}
