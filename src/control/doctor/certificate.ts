import { X509Certificate } from 'node:crypto';
import { join } from 'node:path';
import { serverName } from '../../config/server-name.ts';
import { SELF_SIGNED_FILE, UPLOADED_FILE } from '../../tls/own-certificate.ts';
import { type Finding, fail, ok, skipped, warn } from './finding.ts';
import type { Check, Premises } from './premises.ts';

const DAY_MS = 86_400_000;
/** As in health. */
const SOON_DAYS = 14;
const NAME = 'certificate';

/** A certificate that the server goes by. */
interface Source {
  readonly path: string;
  readonly said: string;
  /** What makes a new one. */
  readonly renew: string;
  /** What makes one for this name. */
  readonly named: (host: string) => string;
}

/** Whether clients would take the certificate, and for how long. */
export const certificateCheck: Check = async (premises) => {
  const { loaded, dataDir } = premises;
  const { certFile } = loaded.config.tls;
  if (certFile !== null) {
    const path = certFile;
    const renew = `renew it (certbot renew), in place: ${path}`;
    const named = (host: string) => `get one for ${host}, or: server: { hostname: … }`;
    return [findingOn({ path, said: path, renew, named }, premises) ?? unreadable(path, premises)];
  }
  const uploaded = join(dataDir, UPLOADED_FILE);
  if (!isMissing(read(uploaded, premises.machine))) {
    const renew = 'upload another under Settings, Certificate, on the dashboard';
    const source = {
      path: uploaded,
      said: 'Uploaded',
      renew,
      named: (host: string) => `${renew}, for ${host}`,
    };
    return [findingOn(source, premises) ?? unreadable(uploaded, premises)];
  }
  const path = join(dataDir, SELF_SIGNED_FILE);
  const renew = `rm ${path} and start the server again`;
  const found = findingOn({ path, said: 'Self-signed', renew, named: () => renew }, premises);
  return [found ?? skipped(NAME, 'A self-signed one is made at the first start that needs it.')];
};

/** Null when it cannot be read. */
function findingOn(
  { path, said, renew, named }: Source,
  { machine, clock, loaded }: Premises,
): Finding | null {
  const certificate = read(path, machine);
  if (certificate instanceof Error) return null;
  const days = Math.floor((Date.parse(certificate.validTo) - clock.wall()) / DAY_MS);
  if (days < 0) return fail(NAME, `${path} expired ${-days} days ago.`, renew);
  const host = serverName(loaded.config);
  if (certificate.checkHost(host) === undefined)
    return warn(NAME, `${path} is not for ${host}: clients that check it refuse it.`, named(host));
  if (days < SOON_DAYS) return warn(NAME, `${path} expires in ${days} days.`, renew);
  return ok(NAME, `${said}, for ${host}, good for another ${days} days.`);
}

function unreadable(path: string, { machine }: Premises): Finding {
  const cause = read(path, machine);
  const look = `openssl x509 -in ${path} -noout -text`;
  return fail(NAME, `${path} is no certificate that can be read: ${String(cause)}`, look);
}

function isMissing(found: X509Certificate | Error): boolean {
  return found instanceof Error && 'code' in found && found.code === 'ENOENT';
}

function read(path: string, machine: Premises['machine']): X509Certificate | Error {
  try {
    return new X509Certificate(machine.readFile(path));
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}
