import { isIP, type Socket } from 'node:net';
import { connect, type DetailedPeerCertificate, type TLSSocket } from 'node:tls';
import { matchTlsa, type Tlsa } from '../../dns/dane.ts';
import type { TransportSecurity } from '../../domain/attempt.ts';
import type { Clock } from '../../lib/clock.ts';
import { tlsFailure } from './failure.ts';
import type { Trace } from './trace.ts';

/** Longer chains are not looked at to their end. */
const MAX_CHAIN = 10;

/**
 * What a server's certificate must prove.
 * - `any`: nothing; encryption alone is wanted.
 * - `name`: it is the host's, and comes from a trusted root.
 * - `dane`: it matches one of these records (RFC 7672), and for usage 2 speaks for one of the names.
 */
export type Trust =
  | { readonly kind: 'any' | 'name' }
  | { readonly kind: 'dane'; readonly records: readonly Tlsa[]; readonly names: readonly string[] };

/** With whom a handshake is done. */
export interface TlsPeer {
  /** For texts. */
  readonly host: string;
  /** Name or address: what is asked for (SNI), and what a certificate must be good for. */
  readonly serverName: string;
  readonly trust: Trust;
}

/** A secured connection, and what its certificate proved. */
export interface Secured {
  readonly socket: TLSSocket;
  readonly verdict: Exclude<TransportSecurity['verdict'], 'none' | null>;
}

/**
 * Does the TLS handshake over a connected socket that nobody reads. Fails with `HopFailure`, cause `tls_failed`,
 * when it fails, the certificate does not prove what it must, or the socket is destroyed meanwhile.
 */
export function secure(socket: Socket, peer: TlsPeer, clock: Clock, trace: Trace): Promise<Secured> {
  const { host, serverName, trust } = peer;
  return new Promise((resolve, reject) => {
    const startedAt = clock.mono();
    const name = isIP(serverName) === 0 ? { servername: serverName } : {};
    const tls = connect({ socket, host: serverName, ...name, rejectUnauthorized: trust.kind === 'name' });
    const fail = (error: Error) => {
      // What fails may go on to report errors, to no one.
      tls.removeListener('close', onClose);
      tls.on('error', () => {});
      tls.destroy();
      reject(tlsFailure(error, host));
    };
    const onClose = () => fail(new Error('the connection was closed'));
    tls.once('error', fail);
    tls.once('close', onClose);
    tls.once('secureConnect', () => {
      trace.tlsMs = Math.round(clock.mono() - startedAt);
      trace.tls = `${tls.getProtocol()} ${tls.getCipher().standardName}`;
      const verdict = judge(tls, trust, clock.wall());
      trace.happened('TLS', `${trace.tls}, ${WORDS[verdict]}`);
      if (trust.kind === 'dane' && verdict !== 'dane')
        return fail(new Error('its certificate matches none of its TLSA records (DANE)'));
      tls.removeListener('error', fail);
      tls.removeListener('close', onClose);
      resolve({ socket: tls, verdict });
    });
  });
}

const WORDS: Readonly<Record<Secured['verdict'], string>> = {
  verified: 'certificate verified',
  dane: 'certificate matches its TLSA records',
  unverified: 'certificate not verified',
};

function judge(tls: TLSSocket, trust: Trust, nowMs: number): Secured['verdict'] {
  if (trust.kind === 'dane') {
    const { records, names } = trust;
    return matchTlsa(records, chainOf(tls), { names, nowMs }) ? 'dane' : 'unverified';
  }
  return tls.authorized ? 'verified' : 'unverified';
}

/** The certificates the server showed, its own first, in DER. */
function chainOf(tls: TLSSocket): Uint8Array[] {
  const chain: Uint8Array[] = [];
  let certificate: DetailedPeerCertificate | undefined = tls.getPeerCertificate(true);
  while (certificate?.raw && chain.length < MAX_CHAIN) {
    chain.push(certificate.raw);
    // A root is its own issuer.
    const issuer: DetailedPeerCertificate | undefined = certificate.issuerCertificate;
    certificate = issuer === certificate ? undefined : issuer;
  }
  return chain;
}
