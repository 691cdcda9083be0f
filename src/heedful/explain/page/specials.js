/** The four reserved piece ids, the same in every vocabulary that heedful builds. */

export const PAD = 0;
export const UNK = 1;
export const BOS = 2;
export const EOS = 3;
