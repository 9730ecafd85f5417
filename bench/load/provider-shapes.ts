import { createHash, createHmac } from 'node:crypto';
import {
  canonicalRequest,
  gatherHeaders,
  type SignedRequest,
} from '../../src/ingest/http/providers/ses/signature.ts';
import { httpBody } from './http-bodies.ts';

/** The message of the HTTP load as the APIs of providers take it: the same text, from and to the same people. */

/** Whose API. */
export const SHAPES = ['resend', 'postmark', 'sendgrid', 'ses'] as const;

/** See {@link SHAPES}. */
export type Shape = (typeof SHAPES)[number];

/** What a client of a provider knows. */
export interface ShapeKeys {
  readonly key: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** A request, and the status that says it was taken. */
export interface ShapedRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly accepted: number;
}

const HOST = '127.0.0.1';
const SES_PATH = '/v2/email/outbound-emails';

/** The message that is `sizeBytes` long as our own JSON, in that shape. One for SES is signed now, and good for 15 minutes. */
export function shapedRequest(shape: Shape, sizeBytes: number, keys: ShapeKeys): ShapedRequest {
  const { from, to, subject, text } = JSON.parse(httpBody('json', sizeBytes).bytes.toString());
  const bearer = { Authorization: `Bearer ${keys.key}` };
  switch (shape) {
    case 'resend':
      return shaped('/emails', bearer, { from, to, subject, text }, 200);
    case 'postmark': {
      const message = { From: from, To: to[0], Subject: subject, TextBody: text };
      return shaped('/email', { 'X-Postmark-Server-Token': keys.key }, message, 200);
    }
    case 'sendgrid': {
      const personalizations = [{ to: [{ email: to[0] }] }];
      const content = [{ type: 'text/plain', value: text }];
      const message = {
        personalizations,
        from: { email: 'sender@example.com', name: 'Bench' },
        subject,
        content,
      };
      return shaped('/v3/mail/send', bearer, message, 202);
    }
    case 'ses': {
      const simple = { Subject: { Data: subject }, Body: { Text: { Data: text } } };
      const message = {
        FromEmailAddress: from,
        Destination: { ToAddresses: to },
        Content: { Simple: simple },
      };
      const request = shaped(SES_PATH, {}, message, 200);
      return { ...request, headers: signedHeaders(request.body, keys) };
    }
  }
}

function shaped(
  path: string,
  headers: ShapedRequest['headers'],
  message: object,
  accepted: number,
): ShapedRequest {
  return {
    path,
    headers: { ...headers, 'Content-Type': 'application/json' },
    body: JSON.stringify(message),
    accepted,
  };
}

/** As AWS's SDK signs: the body by its digest. */
function signedHeaders(body: string, { accessKeyId, secretAccessKey }: ShapeKeys): Record<string, string> {
  const date = new Date().toISOString().replace(/[-:]|\.\d+/g, '');
  const digest = createHash('sha256').update(body).digest('hex');
  const named = {
    'content-type': 'application/json',
    host: HOST,
    'x-amz-content-sha256': digest,
    'x-amz-date': date,
  };
  const scope = [date.slice(0, 8), 'eu-central-1', 'ses', 'aws4_request'];
  const request: SignedRequest = {
    method: 'POST',
    path: SES_PATH,
    search: '',
    headers: gatherHeaders(Object.entries(named).flat()),
  };
  const names = Object.keys(named);
  const canonical = canonicalRequest(request, { signedHeaders: names }, digest);
  const hash = createHash('sha256').update(canonical, 'latin1').digest('hex');
  const mac = (key: Buffer, text: string) => createHmac('sha256', key).update(text).digest();
  const signingKey = scope.reduce(mac, Buffer.from(`AWS4${secretAccessKey}`));
  const value = mac(signingKey, ['AWS4-HMAC-SHA256', date, scope.join('/'), hash].join('\n')).toString('hex');
  const { host: _, ...sent } = named;
  return {
    ...sent,
    Authorization: `AWS4-HMAC-SHA256 Credential=${accessKeyId}/${scope.join('/')}, SignedHeaders=${names.join(';')}, Signature=${value}`,
  };
}
