import { createPetStore } from "@petstore/core";
const lim={perMinute:2**52,perDay:2**52};
const store=createPetStore(); const {secret}=(await store.keys.issue({plan:"enterprise",limits:lim}))._unsafeUnwrap();
const c=store.as(secret);
for(let r=0;r<5;r++){const t=performance.now(); for(let i=0;i<2e6;i++) await c.admit(); console.log(((performance.now()-t)/2).toFixed(0));}
