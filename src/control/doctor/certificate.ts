import { X509Certificate } from 'node:crypto';
import { join } from 'node:path';
import { serverName } from '../../config/server-name.ts';
import { fail, ok, skipped, warn } from './finding.ts';
import type { Check } from './premises.ts';

const DAY_MS = 86_400_000;
/** As in health. */
const SOON_DAYS = 14;

/** Whether clients would take the certificate, and for how long. */
export const certificateCheck: Check = async ({ loaded, dataDir, machine, clock }) => {
  const { tls } = loaded.config;
  const name = 'certificate';
  const own = tls.certFile === null;
  const path = tls.certFile ?? join(dataDir, 'tls.crt');
  let certificate: X509Certificate;
  try {
    certificate = new X509Certificate(machine.readFile(path));
  } catch (error) {
    if (own) return [skipped(name, 'A self-signed one is made at the first start that needs it.')];
    return [
      fail(
        name,
        `${path} is no certificate that can be read: ${String(error)}`,
        `openssl x509 -in ${path} -noout -text`,
      ),
    ];
  }
  const days = Math.floor((Date.parse(certificate.validTo) - clock.wall()) / DAY_MS);
  const renew = own ? `rm ${path} and start the server again` : `renew it (certbot renew), in place: ${path}`;
  if (days < 0) return [fail(name, `${path} expired ${-days} days ago.`, renew)];
  const host = serverName(loaded.config);
  if (certificate.checkHost(host) === undefined)
    return [
      warn(
        name,
        `${path} is not for ${host}: clients that check it refuse it.`,
        own ? renew : `get one for ${host}, or: server: { hostname: … }`,
      ),
    ];
  if (days < SOON_DAYS) return [warn(name, `${path} expires in ${days} days.`, renew)];
  return [ok(name, `${own ? 'Self-signed' : path}, for ${host}, good for another ${days} days.`)];
};
