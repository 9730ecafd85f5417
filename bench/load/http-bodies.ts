/** What the HTTP load posts: a form of the message, and how large it is. */
export const FORMS = ['json', 'multipart'] as const;

/** See {@link FORMS}. */
export type Form = (typeof FORMS)[number];

/** A body and its type. */
interface Body {
  readonly type: string;
  readonly bytes: Buffer;
}

const BOUNDARY = 'a-boundary-that-no-text-has';
/** What a form has more than this of, it carries as an attachment, as an invoice goes out. */
const TEXT_BYTES = 5120;
const LINE = `${'The quick brown fox jumps over the lazy dog. '.repeat(2).slice(0, 76)}\n`;

/** A message of one recipient, of so many bytes in that form. */
export function httpBody(form: Form, sizeBytes: number): Body {
  return form === 'json' ? jsonBody(sizeBytes) : multipartBody(sizeBytes);
}

function jsonBody(sizeBytes: number): Body {
  const message = {
    from: 'Bench <sender@example.com>',
    to: ['recipient@example.net'],
    subject: 'A message to measure with',
    text: '',
  };
  const room = sizeBytes - JSON.stringify(message).length;
  // A line feed takes two characters in JSON.
  message.text = LINE.repeat(Math.floor(room / (LINE.length + 1)));
  message.text += 'x'.repeat(sizeBytes - JSON.stringify(message).length);
  return { type: 'application/json', bytes: Buffer.from(JSON.stringify(message)) };
}

function multipartBody(sizeBytes: number): Body {
  const small = sizeBytes <= TEXT_BYTES;
  const field = (name: string, value: string) =>
    `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
  const fields = [
    field('from', 'Bench <sender@example.com>'),
    field('to', 'recipient@example.net'),
    field('subject', 'A message to measure with'),
    ...(small ? [] : [field('text', LINE.repeat(10))]),
  ].join('');
  const attachment = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="attachment"; filename="invoice.pdf"\r\nContent-Type: application/pdf\r\n\r\n`;
  const rest = small ? field('text', '').slice(0, -2) : attachment;
  const end = `\r\n--${BOUNDARY}--\r\n`;
  const room = sizeBytes - fields.length - rest.length - end.length;
  const filling = small ? Buffer.from(LINE.repeat(Math.ceil(room / LINE.length))) : bytesOfAll(room);
  return {
    type: `multipart/form-data; boundary=${BOUNDARY}`,
    bytes: Buffer.concat([Buffer.from(fields + rest), filling.subarray(0, room), Buffer.from(end)]),
  };
}

/** As an attachment has them: of every value, in no order that would let a parser guess. */
function bytesOfAll(count: number): Buffer {
  const bytes = Buffer.alloc(count);
  let state = 1;
  for (let place = 0; place < count; place++) {
    state = (state * 48_271) % 0x7fff_ffff;
    bytes[place] = state & 0xff;
  }
  return bytes;
}
