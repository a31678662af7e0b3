/** The one instrument, as holdings and the token registry name it; its administrator is the operator party. */
export const INSTRUMENT_ID = 'Coin'
