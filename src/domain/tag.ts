/** 1 to 128 characters, none of them a control, a line end or half a surrogate pair. */
const TAG = /^[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}]{1,128}$/u;

/** Whether text may be a tag, the word that senders group their messages by (contract §2). */
export function isTag(text: string): boolean {
  return TAG.test(text);
}
