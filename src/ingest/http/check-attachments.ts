import type { FieldFault } from '../../http/problem.ts';
import { type Attachment, checkAttachment } from '../../mail/part.ts';
import { tooMany } from '../message-rules.ts';
import type { Faults } from './faults.ts';
import type { AttachmentField } from './fields.ts';

const NOTHING = new Uint8Array(0);
const UNSTATED = { filename: null, contentType: null, contentId: null };
const STATED = ['filename', 'contentType', 'contentId'] as const;

/** Checks the attachments. What is faulty is reported; the result is then not fit to be sent. */
export function checkAttachments(
  given: readonly AttachmentField[],
  maxAttachments: number,
  faults: Faults,
): Attachment[] {
  if (given.length > maxAttachments) {
    faults.add(tooMany(given.length, 'attachments', maxAttachments, 'api.max_attachments'), 'attachments');
    return [];
  }
  return given.map((field, place) => checkOne(field, place, faults));
}

function checkOne(field: AttachmentField, place: number, faults: Faults): Attachment {
  const refuse = (property: keyof AttachmentField, fault: Omit<FieldFault, 'pointer'>) =>
    faults.add(fault, 'attachments', place, property);
  const { filename, contentType, contentId } = field;
  if (filename === null)
    refuse('filename', { code: 'required', detail: 'A file name is needed, such as "report.pdf".' });
  if (filename === '.' || filename === '..') {
    const detail = 'This is a directory; give a file name, such as "report.pdf".';
    refuse('filename', { code: 'attachment_filename', detail });
  }
  // Each by itself, so that all are told.
  for (const property of STATED) {
    const fault = checkAttachment({ ...UNSTATED, [property]: field[property] });
    if (fault !== null) refuse(property, fault);
  }
  const disposition = field.disposition ?? 'attachment';
  const known = disposition === 'attachment' || disposition === 'inline';
  if (!known) refuse('disposition', { code: 'disposition', detail: 'Must be "attachment" or "inline".' });
  const isRead = field.content instanceof Uint8Array;
  if (!isRead) refuse('content', { code: 'base64', detail: field.content.rule });
  return {
    filename,
    contentType,
    contentId,
    content: isRead ? field.content : NOTHING,
    disposition: known ? disposition : 'attachment',
  };
}
