import { createHash, createHmac } from 'node:crypto';
import {
  canonicalRequest,
  gatherHeaders,
  type SignedRequest,
} from '../../src/ingest/http/providers/ses/signature.ts';

/** What AWS's examples sign with. */
export const EXAMPLE_ID = 'AKIDEXAMPLE';
/** See {@link EXAMPLE_ID}. */
export const EXAMPLE_SECRET = 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY';

/** The SHA-256 of a body, in hex. */
export function bodyDigestOf(body: Uint8Array): string {
  return createHash('sha256').update(body).digest('hex');
}

/** What a request is signed with. */
export interface Signing {
  readonly accessKeyId: string;
  readonly secret: string;
  readonly region?: string;
  readonly service?: string;
}

/** A request as it is sent: every header field in order. */
export type SentRequest = Omit<SignedRequest, 'headers'> & {
  readonly headers: readonly (readonly [name: string, value: string])[];
};

/** A request with its `Authorization`; it signs every header that the request has. `x-amz-date` must be among them. */
export function signed(
  request: SentRequest,
  body: string | Uint8Array,
  { accessKeyId, secret, region = 'eu-central-1', service = 'ses' }: Signing,
): SentRequest {
  const { headers } = request;
  const date = headers.find(([name]) => name.toLowerCase() === 'x-amz-date')?.[1] ?? '';
  const signedHeaders = [...new Set(headers.map(([name]) => name.toLowerCase()))].sort();
  const canonical = canonicalRequest(received(request), { signedHeaders }, bodyDigestOf(Buffer.from(body)));
  const scope = [date.slice(0, 8), region, service, 'aws4_request'];
  const hash = createHash('sha256').update(canonical, 'latin1').digest('hex');
  const mac = (key: Buffer, text: string) => createHmac('sha256', key).update(text).digest();
  const key = scope.reduce(mac, Buffer.from(`AWS4${secret}`));
  const signature = mac(key, ['AWS4-HMAC-SHA256', date, scope.join('/'), hash].join('\n')).toString('hex');
  const authorization = `AWS4-HMAC-SHA256 Credential=${accessKeyId}/${scope.join('/')}, SignedHeaders=${signedHeaders.join(';')}, Signature=${signature}`;
  return { ...request, headers: [...headers, ['Authorization', authorization]] };
}

/** The headers of a request that is signed as AWS's SDKs do, but for what the body is; `date`: when it is made. */
export function signedHeaders(
  {
    method,
    path,
    host,
    date,
  }: Pick<SentRequest, 'method' | 'path'> & { readonly host: string; readonly date: Date },
  more: Readonly<Record<string, string>>,
  body: string | Uint8Array,
  signing: Signing,
): Readonly<Record<string, string>> {
  const own = {
    Host: host,
    'X-Amz-Date': date.toISOString().replace(/[-:]|\.\d+/g, ''),
    'X-Amz-Content-Sha256': bodyDigestOf(Buffer.from(body)),
  };
  const request = { method, path, search: '', headers: Object.entries({ ...own, ...more }) };
  return Object.fromEntries(signed(request, body, signing).headers);
}

/** A request as it is verified. */
export function received(request: SentRequest): SignedRequest {
  return { ...request, headers: gatherHeaders(request.headers.flat()) };
}
