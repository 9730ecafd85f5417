// A file of its own, as those of each subject are: `settings.ts` has no room for them.

import { CHALLENGE_KINDS, KEY_TYPES } from '../domain/certificate.ts';
import { choice, flag, hostname, integer, listOf, mailAddress, orNull, path, port, text } from './kinds.ts';
import { live, outside, restart } from './setting.ts';

/** What an authority certifies at most, and what it is asked to prove at once. */
const MAX_NAMES = 100;
const NAME = /^(?=.{4,253}$)[^.]+(?:\.[^.]+)*\.[a-z-][^.]*$/i;

const certifiedName = text(
  'a host name with a domain, such as mail.example.com; without wildcards',
  (raw) => hostname.read(raw) !== undefined && NAME.test(raw),
);

const httpsUrl = text(
  'a URL that begins with https://',
  (raw) => URL.canParse(raw) && raw.startsWith('https://'),
);

const base64url = text('base64url, as the authority gave it', (raw) => /^[\w-]{16,1000}=*$/.test(raw));

const keyId = text('an id of up to 200 characters', (raw) => /^[\x21-\x7e]{1,200}$/.test(raw));

/** The settings of the certificate: the files, or by ACME. */
export const CERTIFICATE_SETTINGS = {
  'tls.cert_file': outside(
    restart(
      orNull(path, 'an uploaded one, else one by ACME or a self-signed one'),
      null,
      'PEM file with the certificate and its chain. null means the uploaded one, else the one ordered by ACME, else a self-signed one that renews itself.',
    ),
  ),
  'tls.key_file': outside(
    restart(
      orNull(path, 'the key of that certificate'),
      null,
      'PEM file with the private key of `tls.cert_file`.',
    ),
  ),
  'tls.acme.domains': live(
    listOf(certifiedName, 0, MAX_NAMES),
    [],
    'Host names of this server for which a certificate is ordered from an authority by ACME (RFC 8555), and renewed. Empty means that none is ordered. A certificate of `tls.cert_file`, and an uploaded one, always win; see docs/certificates.md.',
  ),
  'tls.acme.agree_terms': live(
    flag,
    false,
    'Whether you agree to the terms of the authority. Nothing is ordered without.',
  ),
  'tls.acme.contact': live(
    orNull(mailAddress, 'none is given'),
    null,
    'Address that the authority may write to about the account and its certificates.',
  ),
  'tls.acme.challenge': live(
    choice(...CHALLENGE_KINDS),
    'http-01',
    'How the authority checks that the names lead here: `http-01` asks port 80 of each name over HTTP, `tls-alpn-01` port 443 over TLS. Every HTTP port of this server answers the first, and every one with TLS also the second, so that it suffices to forward that port to one of them.',
  ),
  'tls.acme.http_port': restart(
    orNull(port, 'off'),
    null,
    'A port that answers `http-01` and nothing else, on all addresses: 80, where nothing forwards it to another port. null switches it off.',
  ),
  'tls.acme.directory': outside(
    live(
      httpsUrl,
      'https://acme-v02.api.letsencrypt.org/directory',
      'URL of the directory of the authority. The default is Let’s Encrypt’s.',
    ),
  ),
  'tls.acme.ca_file': outside(
    live(
      orNull(path, 'the usual authorities'),
      null,
      'PEM file with the root that signs the certificate of the directory’s own server, for an authority of your own.',
    ),
  ),
  'tls.acme.eab_key_id': outside(
    live(
      orNull(keyId, 'none'),
      null,
      'Id of the key that binds the account to one that you have with the authority (External Account Binding), where it wants that.',
    ),
  ),
  'tls.acme.eab_hmac': outside({
    ...live(orNull(base64url, 'none'), null, 'The key of `tls.acme.eab_key_id`.'),
    secret: true,
  }),
  'tls.acme.key_type': live(
    choice(...KEY_TYPES),
    'ec-256',
    'Kind of key of the certificate. Every order makes a new key.',
  ),
  'tls.acme.renew_percent': live(
    integer(5, 90, 'percent'),
    33,
    'Which part of its life is left when a certificate is renewed, unless the authority says when to (ARI, RFC 9773).',
    'seldom',
  ),
};
