import type { FieldFault } from '../../http/problem.ts';
import { decodeBase64 } from '../../lib/base64.ts';
import { type Attachment, checkAttachment } from '../../mail/attachment.ts';
import type { Faults } from './faults.ts';
import type { AttachmentField } from './fields.ts';

const NOTHING = new Uint8Array(0);
const UNSTATED = { filename: null, contentType: null, contentId: null };
const STATED = ['filename', 'contentType', 'contentId'] as const;

/** Checks and decodes the attachments. What is faulty is reported; the result is then not fit to be sent. */
export function checkAttachments(given: readonly AttachmentField[], faults: Faults): Attachment[] {
  return given.map((field, place) => checkOne(field, place, faults));
}

function checkOne(field: AttachmentField, place: number, faults: Faults): Attachment {
  const refuse = (property: keyof AttachmentField, fault: Omit<FieldFault, 'pointer'>) =>
    faults.add(fault, 'attachments', place, property);
  const { filename, contentType, contentId } = field;
  if (filename === null) refuse('filename', { code: 'required', detail: 'A file name is needed.' });
  if (filename === '.' || filename === '..')
    refuse('filename', { code: 'attachment_filename', detail: 'This is a directory, not a file name.' });
  // Each by itself, so that all are told.
  for (const property of STATED) {
    const fault = checkAttachment({ ...UNSTATED, [property]: field[property] });
    if (fault !== null) refuse(property, fault);
  }
  const disposition = field.disposition ?? 'attachment';
  const known = disposition === 'attachment' || disposition === 'inline';
  if (!known) refuse('disposition', { code: 'disposition', detail: 'Must be "attachment" or "inline".' });
  const content = typeof field.content === 'string' ? decodeBase64(field.content) : field.content;
  if (content === null)
    refuse('content', { code: 'base64', detail: 'Must be base64 with padding and without line breaks.' });
  return {
    filename,
    contentType,
    contentId,
    content: content ?? NOTHING,
    disposition: known ? disposition : 'attachment',
  };
}
