"""Tables of finite-domain attributes, the joint schema of two parties, and the expressions that nodes stand for."""
