"""Random factors, encryptions of zero made ahead of time, each used at most once (DESIGN 6.4, FAULTS A9, 27 and 28).

A factor that is used for two ciphertexts shows the difference of their plaintexts to whoever holds both. A file
cannot tell that it was used before: a backup of it looks as unused as it was when it was made. So a store has two
parts. The *store*, in the party's folder, holds sealed blocks of factors, a stack: blocks are added and taken at the
end. The *witness*, in memory that no backup and no snapshot of a disk holds (`/dev/shm`), says which file the store is,
how many of its blocks may be used, and which block is topmost. A block's seal names the block below it, so the topmost
stands for all of them. The witness decides; where the store differs from it, this happened:

=============================================  ==================================================================
no witness                                     the machine was restarted, or the store came from another: discarded
a witness of another file                      the store was copied or restored: discarded
a file longer than the witness knows of        an older copy was written over the store: discarded
the clock left the time since the start        the whole machine was restored and its clock then set: discarded
a shorter file, another block, a broken seal   damage: refused with an error, nothing is used
=============================================  ==================================================================

To take blocks, the witness is lowered first, then the file is cut and synchronized, and only then is a factor used:
whatever stops the process, wherever, factors are lost at worst. To add a block, the file is written and synchronized
first and the witness raised last. A lock makes each of these one step, so several processes may share a store.
A forked child has none of its parent's factors.

NOT detected: a machine that is restored or cloned *with its memory*, until its clock is set right; a process restored
or cloned so. A container's checkpoint with memory is another such case, on the same start of the same machine.
"""

from party.keys.factors.encryption import FactorsUse, StoredFactors, with_stored_factors
from party.keys.factors.store import BLOCK_FACTORS, FactorStore
from party.keys.factors.witness import Machine

__all__ = ["BLOCK_FACTORS", "FactorStore", "FactorsUse", "Machine", "StoredFactors", "with_stored_factors"]
