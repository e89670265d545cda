import { createPetStore } from "@petstore/core";
import { openSqliteStorage } from "@petstore/storage-sqlite";
import rlf from "rate-limiter-flexible";
const lim={perMinute:2**52,perDay:2**52};
const now=()=>performance.now();
async function time(name,fn,n=200000){ await fn(20000); const r=[]; for(let i=0;i<7;i++){const t=now(); await fn(n); r.push((now()-t)*1e6/n);} r.sort((a,b)=>a-b); console.log(name,r[3].toFixed(0),"ns"); }
const store=createPetStore(); const {secret}=(await store.keys.issue({plan:"enterprise",limits:lim}))._unsafeUnwrap();
const c=store.as(secret);
const m=new rlf.RateLimiterMemory({points:2**52,duration:60,keyPrefix:"m"}), d=new rlf.RateLimiterMemory({points:2**52,duration:86400,keyPrefix:"d"});
const u=new rlf.RateLimiterUnion(m,d);
const seq=f=>async n=>{for(let i=0;i<n;i++) await f();};
const conc=f=>async n=>{const w=async()=>{for(let i=0;i<n/32;i++) await f();}; await Promise.all(Array.from({length:32},w));};
for (const [k,w] of [["alone",seq],["32",conc]]) {
await time(k+" ours reuse",w(()=>c.admit()));
await time(k+" ours as",w(()=>store.as(secret).admit()));
await time(k+" rlf union",w(()=>u.consume("k")));
await time(k+" rlf two",w(async()=>{await m.consume("k");await d.consume("k");}));
await time(k+" rlf one",w(()=>m.consume("k")));
}
import fs from "node:fs"; fs.rmSync("/tmp/probe.db",{force:true});fs.rmSync("/tmp/probe.db-wal",{force:true});fs.rmSync("/tmp/probe.db-shm",{force:true});
const st=(await openSqliteStorage({filename:"/tmp/probe.db"}))._unsafeUnwrap(); const s2=createPetStore({storage:st});const k2=(await s2.keys.issue({plan:"enterprise",limits:lim}))._unsafeUnwrap();
const c2=s2.as(k2.secret);
await time("sqlite alone",seq(()=>c2.admit()),20000);
await time("sqlite 32",conc(()=>c2.admit()),64000);
