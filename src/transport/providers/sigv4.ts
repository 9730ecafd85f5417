/** AWS Signature Version 4 for one request, in its `Authorization` header. */
import { createHash, createHmac } from 'node:crypto';

/** What is signed, and with what. */
export interface SigV4 {
  readonly method: string;
  readonly url: URL;
  /** To be signed too, besides Host and X-Amz-Date. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: readonly Uint8Array[];
  readonly service: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Wall ms. */
  readonly now: number;
}

const ALGORITHM = 'AWS4-HMAC-SHA256';

/** The headers to send besides those given: `authorization` and `x-amz-date`. */
export function signV4(request: SigV4): Readonly<Record<string, string>> {
  const { method, url, body, service, region, accessKeyId, secretAccessKey } = request;
  const time = new Date(request.now).toISOString().replace(/[-:]|\.\d+/g, '');
  const day = time.slice(0, 8);
  const headers = sorted({ ...request.headers, host: url.host, 'x-amz-date': time });
  const names = headers.map(([name]) => name).join(';');
  const canonical = [
    method,
    canonicalPath(url.pathname),
    canonicalQuery(url.searchParams),
    ...headers.map(([name, value]) => `${name}:${value.trim().replace(/ +/g, ' ')}`),
    '',
    names,
    hash(body),
  ].join('\n');
  const scope = `${day}/${region}/${service}/aws4_request`;
  const toSign = [ALGORITHM, time, scope, hash([Buffer.from(canonical)])].join('\n');
  const key = [day, region, service, 'aws4_request'].reduce<Buffer>(
    (secret, part) => createHmac('sha256', secret).update(part).digest(),
    Buffer.from(`AWS4${secretAccessKey}`),
  );
  const signature = createHmac('sha256', key).update(toSign).digest('hex');
  const credential = `Credential=${accessKeyId}/${scope}, SignedHeaders=${names}, Signature=${signature}`;
  return { authorization: `${ALGORITHM} ${credential}`, 'x-amz-date': time };
}

function sorted(headers: Readonly<Record<string, string>>): [string, string][] {
  return Object.entries(headers)
    .map(([name, value]): [string, string] => [name.toLowerCase(), value])
    .sort(([a], [b]) => (a < b ? -1 : 1));
}

/** Each segment is encoded once more, as every service but S3 has it. */
function canonicalPath(path: string): string {
  return path.split('/').map(encode).join('/');
}

function canonicalQuery(query: URLSearchParams): string {
  const pairs = [...query].map(([name, value]) => `${encode(name)}=${encode(value)}`);
  return pairs.sort().join('&');
}

/** Everything but the unreserved characters of RFC 3986 §2.3. */
function encode(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function hash(parts: readonly Uint8Array[]): string {
  const sum = createHash('sha256');
  for (const part of parts) sum.update(part);
  return sum.digest('hex');
}
