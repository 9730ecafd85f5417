/**
 * Why a message cannot be written anew from its parts so that it still says the same. Where only its encoding would
 * change (transfer encodings, charsets that become UTF-8, boundaries, folding, the order of header fields) it can.
 */

/** See {@link UNREBUILDABLE}, which says each in words. */
export type Unrebuildable = keyof typeof UNREBUILDABLE;

/** Each reason as the end of a sentence that begins with "it cannot be rebuilt from its parts:". */
export const UNREBUILDABLE = {
  address_form: 'From, To, Cc, Reply-To or Sender has a group, a comment or an address that cannot be read',
  address_repeated: 'an address stands more than once in To and Cc',
  alternatives:
    'it has other alternatives than one plain text followed by one HTML text, such as an invitation',
  attachment_name: 'an attachment has no file name',
  authors: 'From does not name exactly one author',
  body_encoding: 'a part cannot be decoded by its Content-Transfer-Encoding',
  charset: 'a text is in no charset that is known, or has bytes that are not of its charset',
  content_fields:
    'a part has fields or parameters that would be lost, or its file name, a parameter or its Content-ID has control characters',
  header: 'its header cannot be read in one way only',
  header_eight_bit: 'a header field has bytes over 127 outside of addresses and Subject',
  header_repeated: 'a header field that may stand only once stands more often',
  header_words: 'a header field has encoded words that cannot be read, or text that looks like one',
  message_part: 'it has a message within that is not attached as a file, or a report',
  place: 'it has a part that would come to stand in another place, such as a second text',
  resent: 'it was resent (Resent-From and its like)',
  sender: 'its Sender is another than its author',
  signed: 'it is signed or encrypted (S/MIME, OpenPGP)',
  structure: 'its parts cannot be told apart in one way only, or are of a kind that no rebuild has',
  text_format: 'its text has format=flowed, or another parameter that would be lost',
  too_many_parts: 'it has too many parts',
} as const;

/** Raised where a message is read and caught at the top of it: a part deep below ends it all. */
export class Refused extends Error {
  readonly because: Unrebuildable;

  constructor(because: Unrebuildable) {
    super(because);
    this.because = because;
  }
}
